use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::StartError;

/// It answers after a quarter of a second on an idle machine; a build beside it takes the machine away.
const READY_WITHIN: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(20);
/// How long it may take to end its functions when it is told to stop.
const STOP_WITHIN: Duration = Duration::from_secs(3);
/// Another process may take the free port before the emulator does.
const ATTEMPTS: u32 = 3;

/// MiniStack, the emulator of AWS, as a process of this test; it ends with the value.
///
/// An access key of 12 digits is an account of its own, with its own tables: see
/// [`dynamo_client`](crate::dynamo_client).
#[derive(Debug)]
pub struct MiniStack {
    process: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl MiniStack {
    /// Starts it on a free port of 127.0.0.1 and waits until it answers, 30 seconds at most.
    ///
    /// # Errors
    /// [`StartError`] says whether it is missing, ended by itself or stayed silent, and quotes its log.
    pub fn start() -> Result<Self, StartError> {
        let mut last = Self::start_once();
        for _ in 1..ATTEMPTS {
            match last {
                Err(StartError::Ended { .. }) => last = Self::start_once(),
                other => return other,
            }
        }
        last
    }

    fn start_once() -> Result<Self, StartError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
        let program = root.join(".local/emu/bin/ministack");
        if !program.exists() {
            return Err(StartError::NotInstalled(program));
        }
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let logs = root.join("target/emulator");
        fs::create_dir_all(&logs)?;
        let log = logs.join(format!("ministack-{}.log", address.port()));
        let output = File::create(&log)?;
        let process = Command::new(program)
            .env("BIND_HOST", address.ip().to_string())
            .env("GATEWAY_PORT", address.port().to_string())
            .env("IOT_MTLS_ENABLED", "0")
            .env("LOG_LEVEL", "WARNING")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        let mut started = Self { process, address, log };
        started.wait_until_ready()?;
        Ok(started)
    }

    /// Where it listens, for an SDK client.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The file that takes what it prints.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    fn wait_until_ready(&mut self) -> Result<(), StartError> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Err(StartError::Ended { status, log: self.log.clone(), tail: tail(&self.log) });
            }
            if healthy(self.address) {
                return Ok(());
            }
            let waited = began.elapsed();
            if waited > READY_WITHIN {
                return Err(StartError::NotReady { waited, log: self.log.clone(), tail: tail(&self.log) });
            }
            thread::sleep(POLL_EVERY);
        }
    }

    fn ended_within(&mut self, limit: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < limit {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(POLL_EVERY);
        }
        false
    }
}

impl Drop for MiniStack {
    fn drop(&mut self) {
        // Asked first, so that it ends the functions it has started; a kill would orphan them.
        let asked = Command::new("kill").arg("-TERM").arg(self.process.id().to_string()).status();
        if asked.is_ok_and(|status| status.success()) && self.ended_within(STOP_WITHIN) {
            return;
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn healthy(address: SocketAddr) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream
            .write_all(b"GET /_ministack/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(status.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(20)).copied().collect::<Vec<_>>().join("\n")
}
