//! The provider stand-in as a process: prints `{"port": …}` as one line, and ends when its input is closed.

use std::io::{self, Read, Write};

use oncebox_tests::ProviderStandIn;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let provider = ProviderStandIn::start()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::json!({ "port": provider.port() }))?;
    out.flush()?;
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(())
}
