//! What a process and its descendants have used, by the kernel's accounts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// CPU time and peak memory of a process tree, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Nanoseconds on a CPU, by thread; those that live.
    threads: BTreeMap<u32, u64>,
    /// Sum of the processes' peaks of resident memory, in KiB.
    pub(crate) peak_kib: u64,
}

/// CPU time between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) cpu_ns: u64,
    /// Threads that have ended in between. What they used is not in `cpu_ns`.
    pub(crate) threads_ended: usize,
}

impl Usage {
    /// Reads `/proc` for `pid` and its descendants.
    ///
    /// # Errors
    /// When `pid` itself is gone.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let root = Path::new("/proc").join(pid.to_string());
        let peak_kib = peak_kib(&fs::read_to_string(root.join("status"))?);
        let mut usage = Self { threads: BTreeMap::new(), peak_kib };
        for thread in threads(&root)? {
            let cpu_ns = fs::read_to_string(thread.join("schedstat")).map_or(0, |text| on_cpu(&text));
            usage.threads.extend(number(&thread).map(|id| (id, cpu_ns)));
            // A child may end between the listing and here.
            for child in children(&thread).into_iter().filter_map(|pid| Self::of(pid).ok()) {
                usage.threads.extend(child.threads);
                usage.peak_kib += child.peak_kib;
            }
        }
        Ok(usage)
    }

    /// What was used since `before`.
    pub(crate) fn since(&self, before: &Self) -> Spent {
        let earlier = |id| before.threads.get(id).copied().unwrap_or_default();
        let cpu_ns = self.threads.iter().map(|(id, cpu_ns)| cpu_ns.saturating_sub(earlier(id))).sum();
        let threads_ended = before.threads.keys().filter(|id| !self.threads.contains_key(id)).count();
        Spent { cpu_ns, threads_ended }
    }
}

/// The pids of all descendants of `pid`, children before their own.
pub(super) fn descendants(pid: u32) -> Vec<u32> {
    let threads = threads(&Path::new("/proc").join(pid.to_string())).unwrap_or_default();
    let children = threads.iter().flat_map(|thread| children(thread));
    children.flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// The folders of a process's threads.
fn threads(process: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(process.join("task"))?.map(|thread| Ok(thread?.path())).collect()
}

/// The processes that a thread has started.
fn children(thread: &Path) -> Vec<u32> {
    let list = fs::read_to_string(thread.join("children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn number(thread: &Path) -> Option<u32> {
    thread.file_name()?.to_str()?.parse().ok()
}

/// The first field of `schedstat`: nanoseconds on a CPU. The second is the time spent waiting for one.
fn on_cpu(schedstat: &str) -> u64 {
    schedstat.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

/// `VmHWM` of `status`, which the kernel states in kB of 1024 bytes.
fn peak_kib(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn time_on_a_cpu_is_not_time_waiting_for_one() {
        assert_eq!(on_cpu("123456 999999999 7\n"), 123_456);
        assert_eq!(on_cpu(""), 0);
    }

    #[test]
    fn the_peak_is_not_what_is_resident_now() {
        assert_eq!(peak_kib("VmPeak:\t 9000 kB\nVmHWM:\t    8500 kB\nVmRSS:\t  100 kB\n"), 8500);
    }

    fn own() -> Usage {
        Usage::of(std::process::id()).unwrap()
    }

    /// Works for 20 ms of the thread's own time, however busy the machine is.
    fn work() {
        let start = Instant::now();
        let used = || fs::read_to_string("/proc/thread-self/schedstat").map_or(0, |text| on_cpu(&text));
        while used() < 20_000_000 && start.elapsed() < Duration::from_secs(20) {
            std::hint::black_box(start);
        }
    }

    #[test]
    fn every_thread_counts_while_it_lives() {
        let before = own();
        let (worked, told) = std::sync::mpsc::channel();
        let (end, may_end) = std::sync::mpsc::channel::<()>();
        let other = thread::spawn(move || {
            work();
            worked.send(()).unwrap();
            may_end.recv().unwrap_err();
        });
        told.recv().unwrap();
        let with = own();
        assert!(with.since(&before).cpu_ns >= 20_000_000, "{before:?}, {with:?}");
        drop(end);
        other.join().unwrap();
        // Its entry may outlive the join by a moment.
        thread::sleep(Duration::from_millis(50));
        assert!(own().since(&with).threads_ended >= 1);
    }

    #[test]
    fn a_thread_that_has_ended_takes_nothing_from_the_others() {
        let usage =
            |threads: &[(u32, u64)]| Usage { threads: threads.iter().copied().collect(), peak_kib: 0 };
        let spent = usage(&[(1, 12), (3, 4)]).since(&usage(&[(1, 10), (2, 900)]));
        assert_eq!(spent, Spent { cpu_ns: 2 + 4, threads_ended: 1 });
    }

    #[test]
    fn a_child_process_counts_and_is_found() {
        // Without exec the shell stays, and the loop is in a child of its own.
        let mut shell = Command::new("sh")
            .args(["-c", "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; read x); :"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        thread::sleep(Duration::from_millis(50));
        let usage = Usage::of(shell.id()).unwrap();
        assert_eq!(usage.threads.len(), 2, "{usage:?}");
        assert!(usage.since(&Usage::default()).cpu_ns > 5_000_000 && usage.peak_kib > 0, "{usage:?}");
        assert_eq!(descendants(shell.id()).len(), 1);
        drop(shell.stdin.take());
        assert!(shell.wait().unwrap().success());
    }
}
