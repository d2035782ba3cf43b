//! Compiles against any harness whose dependencies are all there.

extern crate oncebox_tests;

fn main() {}
