//! Going around the engine does not compile, and a mistake in a handler's signature is explained in its words.
//!
//! Each file in `cases/` is compiled by the pinned rustc against what the tests are built from anyway, and what the compiler
//! says is compared with the file of the same name beside it. (trybuild does the same after it has checked every
//! dependency once more with flags of its own, which for the AWS SDK takes minutes.) After a change of the toolchain or of
//! a message: `BLESS=1 cargo nextest run …`, and read the difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod said;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder with everything that this test was built from.
fn deps() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_path_buf()
}

/// The harness, which names everything that the cases use. It is there in as many builds as there were sets of features;
/// the newest one whose own dependencies are still as it knew them is taken.
fn harness() -> PathBuf {
    let files = deps().read_dir().unwrap().map(|entry| entry.unwrap());
    let mut builds: Vec<_> = files
        .filter(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            name.starts_with("liboncebox_tests-") && name.ends_with(".rlib")
        })
        .map(|file| (file.metadata().unwrap().modified().unwrap(), file.path()))
        .collect();
    builds.sort();
    let empty = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail/empty.rs");
    let whole = builds.into_iter().rev().find(|(_, build)| compile(&empty, build).status.success());
    whole.expect("this test was built with a harness").1
}

fn compile(source: &Path, harness: &Path) -> Output {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(rustc)
        .args([
            "--edition=2024",
            "--emit=metadata",
            "--error-format=json",
            "-Adead_code",
            "-Aunused_variables",
        ])
        .arg("--extern")
        .arg(format!("oncebox_tests={}", harness.display()))
        .arg(format!("-Ldependency={}", deps().display()))
        .arg("-o")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail.rmeta"))
        .arg(source)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

#[test]
fn the_compiler_refuses_and_says_why() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail/cases");
    let mut sources: Vec<PathBuf> = cases.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    sources.sort();
    assert_eq!(sources.len(), 6, "{}", cases.display());
    let harness = harness();
    let mut different = String::new();
    for source in sources {
        let output = compile(&source, &harness);
        let said = said::read(&String::from_utf8(output.stderr).unwrap());
        assert!(!output.status.success(), "{} compiles\n{said}", source.display());
        let file = source.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &said).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if said != expected {
            different += &format!("{}\n--- expected\n{expected}\n--- said\n{said}\n", source.display());
        }
    }
    assert!(different.is_empty(), "{different}");
}
