//! The process that is measured.

mod usage;

pub(crate) use usage::Usage;
