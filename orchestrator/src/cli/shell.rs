//! `isoframe completions` and `isoframe man`: what the shell needs, made from the command line itself.

use clap::Args;
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::print;

/// Print a shell completion script
///
/// For bash: isoframe completions bash > ~/.local/share/bash-completion/completions/isoframe
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to complete for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "isoframe", &mut script);
        print::bytes(&script)?;
        Ok(Exit::Done)
    }
}

/// Print the manual page, or write one page per command into a folder
///
/// To read it: isoframe man | man -l -
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write isoframe.1, isoframe-render.1 and the rest into; it must exist
    #[arg(long, value_name = "FOLDER")]
    folder: Option<std::path::PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        match &self.folder {
            Some(folder) => clap_mangen::generate_to(super::command(), folder)
                .map_err(|error| Failure::fault(format!("{}: {error}", folder.display())))?,
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(super::command()).render(&mut page).map_err(Failure::fault)?;
                print::bytes(&page)?;
            }
        }
        Ok(Exit::Done)
    }
}
