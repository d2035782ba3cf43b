use std::mem;
use std::panic::{self, AssertUnwindSafe};

/// Drops what somebody else's code has made. Where that panics, it ends here: the record has its verdict by then, and its
/// neighbours have no part in it.
pub(super) fn discard<T>(value: T) {
    if let Err(panic) = panic::catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its payload is somebody else's too; it is not worth a third try.
        mem::forget(panic);
    }
}
