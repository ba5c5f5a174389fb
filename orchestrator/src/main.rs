//! The `isoframe` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    isoframe::cli::main()
}
