//! Does one work so many times, for valgrind to count: `counts` lists the names, `counts NAME ROUNDS` works.
//! `counts/check.py` runs it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "work that is not done must end the process, not be measured"
)]

mod work;

use std::error::Error;

/// Inputs are made for so many rounds whatever the number, so that making them cancels out between two runs.
const MOST: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for work in work::ALL {
            println!("{}", work.name);
        }
        return Ok(());
    };
    let rounds: usize = arguments.next().ok_or("counts NAME ROUNDS")?.parse()?;
    if !(1..=MOST).contains(&rounds) {
        return Err(format!("ROUNDS is from 1 to {MOST}").into());
    }
    let work = work::ALL
        .iter()
        .find(|work| work.name == name)
        .ok_or_else(|| format!("there is no work {name:?}"))?;
    work::log_to_nowhere();
    let mut round = (work.prepare)(MOST);
    (0..rounds).for_each(&mut round);
    Ok(())
}
