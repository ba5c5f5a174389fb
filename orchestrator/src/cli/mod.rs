//! The command line: one file per subcommand, exit codes and errors in `exit`.

mod adapters;
mod bench;
mod checkpoint;
mod conformance;
mod destination;
mod digest;
mod exit;
mod generate;
mod goldens;
mod inspect;
mod interrupt;
mod log;
mod passes;
mod picture;
mod print;
mod progress;
mod render;
mod serve;
mod session;
mod shell;
mod source;
mod table;
mod verify;

use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use exit::{EXIT_CODES, Exit, Failure};

const LONG_ABOUT: &str = "\
Isoframe renders glTF scenes to frames that can be proved: the same request gives the same bytes on \
every machine, GPU, driver and thread count, and each file carries a receipt that anyone can check.

Start with `isoframe render demo -o demo.png`, then `isoframe serve`.";

/// A glTF renderer and render service whose frames can be proved.
#[derive(Debug, Parser)]
#[command(name = "isoframe", version, about, long_about = LONG_ABOUT, after_help = EXIT_CODES)]
#[command(propagate_version = true, max_term_width = 100, infer_long_args = false)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Reporting")]
pub(crate) struct Global {
    /// Report as JSON: results on stdout, an error as one JSON object on stderr
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress and no notes; errors are still shown
    #[arg(long, short, global = true)]
    quiet: bool,
    /// What to log to stderr: error, warn, info, debug, trace, or a tracing filter
    #[arg(long, global = true, value_name = "FILTER", env = "ISOFRAME_LOG_LEVEL")]
    log: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Render(render::Render),
    Serve(serve::Serve),
    Verify(verify::Verify),
    Inspect(inspect::Inspect),
    Goldens(goldens::Goldens),
    Adapters(adapters::Adapters),
    Conformance(conformance::Conformance),
    Bench(bench::Bench),
    Generate(generate::Generate),
    Completions(shell::Completions),
    Man(shell::Man),
}

impl Cli {
    fn run(&self) -> Result<Exit, Failure> {
        if !matches!(self.command, Command::Serve(_)) {
            log::start_command(&self.global)?;
        }
        self.command.run(&self.global)
    }
}

impl Command {
    fn run(&self, global: &Global) -> Result<Exit, Failure> {
        match self {
            Command::Render(command) => command.run(global),
            Command::Serve(command) => command.run(global),
            Command::Verify(command) => command.run(global),
            Command::Inspect(command) => command.run(global),
            Command::Goldens(command) => command.run(global),
            Command::Adapters(command) => command.run(global),
            Command::Conformance(command) => command.run(global),
            Command::Bench(command) => command.run(global),
            Command::Generate(command) => command.run(global),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        }
    }
}

/// Runs the command line of this process, and says how it ended.
pub fn main() -> ExitCode {
    quiet_egl();
    panic::set_hook(Box::new(|info| {
        eprintln!("isoframe: internal error: {info}; this is a bug, please report it");
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error).into(),
    };
    let json = cli.global.json;
    match panic::catch_unwind(panic::AssertUnwindSafe(|| cli.run())) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(failure)) => {
            report(&failure, json);
            failure.exit.into()
        }
        Err(_) => Exit::Fault.into(),
    }
}

/// Mesa's EGL complains on stderr where there is no desktop session. It only looks for a display there, and Isoframe
/// never opens one, so that any folder will do.
fn quiet_egl() {
    if cfg!(unix) && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: this is the first thing that the process does; no other thread can read the environment yet.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

/// Shows help, version or a usage error; clap knows which of them it is.
fn usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Done;
    }
    // Parsing failed, so the flag has to be looked for by hand.
    if std::env::args_os().any(|arg| arg == "--json") {
        report(&usage_failure(&error.render().to_string()), true);
    } else {
        let _ = error.print();
    }
    Exit::BadInput
}

/// clap's words up to the usage, on one line; its tips become the hint.
fn usage_failure(text: &str) -> Failure {
    let said = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let (tips, what): (Vec<&str>, Vec<&str>) =
        said.filter(|line| !line.is_empty()).partition(|line| line.starts_with("tip:"));
    let failure = Failure::bad_input(what.join(" ").trim_start_matches("error: "));
    match tips.as_slice() {
        [] => failure.hint("see `isoframe help`"),
        tips => failure.hint(tips.join(" ").trim_start_matches("tip: ")),
    }
}

fn report(failure: &Failure, json: bool) {
    if json {
        eprintln!("{}", failure.json());
    } else {
        eprintln!("isoframe: error: {failure}");
    }
}

/// The whole command line, for completions, the man page and the documentation.
fn command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn usage_errors_keep_what_is_missing_and_what_was_meant() {
        let of = |args: &[&str]| {
            let error = Cli::try_parse_from(args).expect_err("a mistake");
            usage_failure(&error.render().to_string())
        };
        let missing = of(&["isoframe", "render", "demo"]);
        assert!(missing.what.contains("--out") && !missing.what.contains('\n'), "{}", missing.what);
        let misspelt = of(&["isoframe", "render", "demo", "-o", "x.png", "--sample", "4"]);
        assert!(misspelt.what.contains("--sample"), "{}", misspelt.what);
        assert!(misspelt.hint.expect("a tip").contains("--samples"));
    }
}
