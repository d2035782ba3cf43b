//! Naturally idempotent effects: one conditional write that is its own inbox.

mod attempts;
mod emulator;
mod insert;
mod next;
mod property;
mod upsert;
mod verdicts;
mod world;
