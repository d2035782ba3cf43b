//! The whole system on the emulator: real functions under the Lambda Runtime API, the real template.

mod consumers;
mod orders;
mod start;
