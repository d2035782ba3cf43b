//! What a process and its descendants have used, by the kernel's accounts.

use std::fs;
use std::io;
use std::path::Path;

/// CPU time and peak memory of a process tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Nanoseconds on a CPU, of all threads that live.
    pub(crate) cpu_ns: u64,
    /// Sum of the processes' peaks of resident memory, in KiB.
    pub(crate) peak_kib: u64,
}

impl Usage {
    /// Reads `/proc` for `pid` and its descendants. A thread that has ended is not counted: the runtimes measured here keep
    /// theirs.
    ///
    /// # Errors
    /// When `pid` itself is gone.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let root = Path::new("/proc").join(pid.to_string());
        let mut usage = Self { cpu_ns: 0, peak_kib: peak_kib(&fs::read_to_string(root.join("status"))?) };
        for child in each_thread(&root, |thread| {
            usage.cpu_ns += fs::read_to_string(thread.join("schedstat")).map_or(0, |text| on_cpu(&text));
            fs::read_to_string(thread.join("children")).unwrap_or_default()
        })? {
            // A child may end between the listing and here.
            let of_child = child.split_whitespace().filter_map(|pid| Self::of(pid.parse().ok()?).ok());
            for child in of_child {
                usage.cpu_ns += child.cpu_ns;
                usage.peak_kib += child.peak_kib;
            }
        }
        Ok(usage)
    }
}

/// The pids of all descendants of `pid`, children before their own.
pub(super) fn descendants(pid: u32) -> Vec<u32> {
    let root = Path::new("/proc").join(pid.to_string());
    let lists = each_thread(&root, |thread| fs::read_to_string(thread.join("children")).unwrap_or_default());
    let children = lists.unwrap_or_default().join(" ");
    let children: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    children.into_iter().flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

fn each_thread<T>(process: &Path, mut read: impl FnMut(&Path) -> T) -> io::Result<Vec<T>> {
    fs::read_dir(process.join("task"))?.map(|thread| Ok(read(&thread?.path()))).collect()
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

    #[test]
    fn every_thread_counts() {
        let before = Usage::of(std::process::id()).unwrap();
        // Each thread works for 20 ms of its own time, however busy the machine is.
        let busy = || {
            let start = Instant::now();
            let own = || fs::read_to_string("/proc/thread-self/schedstat").map_or(0, |text| on_cpu(&text));
            while own() < 20_000_000 && start.elapsed() < Duration::from_secs(20) {
                std::hint::black_box(start);
            }
            Usage::of(std::process::id()).unwrap().cpu_ns
        };
        let others: Vec<_> = (0..2).map(|_| thread::spawn(busy)).collect();
        let last = others.into_iter().map(|thread| thread.join().unwrap()).max().unwrap();
        let main_alone = fs::read_to_string("/proc/self/schedstat").map_or(0, |text| on_cpu(&text));
        assert!(last >= before.cpu_ns.max(main_alone) + 20_000_000, "{before:?}, {last}, {main_alone}");
    }

    #[test]
    fn a_child_process_counts_and_is_found() {
        // Without exec the shell stays, and the child is its own.
        let mut shell = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo; (read x; :)"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        thread::sleep(Duration::from_millis(50));
        let usage = Usage::of(std::process::id()).unwrap();
        let of_shell = Usage::of(shell.id()).unwrap();
        assert!(of_shell.cpu_ns > 5_000_000 && of_shell.peak_kib > 0, "{of_shell:?}");
        assert!(usage.cpu_ns >= of_shell.cpu_ns, "{usage:?} has {of_shell:?}");
        assert!(descendants(std::process::id()).contains(&shell.id()));
        drop(shell.stdin.take());
        assert!(shell.wait().unwrap().success());
    }
}
