//! `isoframe adapters`: what the wgpu backend finds here, and whether it computes exactly.

use clap::Args;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::{Global, print};

/// List the adapters of this machine, and whether each passes the exactness probe
///
/// An adapter that fails the probe is never used. A software adapter is used only where --adapter names it. Exit
/// code 0, whatever is found: no adapter is an answer.
#[derive(Debug, Args)]
pub(crate) struct Adapters {
    /// List only, without opening and probing
    #[arg(long)]
    list_only: bool,
}

/// What `--json` gives for each adapter.
#[derive(Debug, Serialize)]
pub(crate) struct AdapterReport {
    #[cfg(feature = "gpu")]
    #[serde(flatten)]
    pub info: isoframe_raster::gpu::AdapterInfo,
    /// What to give to `--adapter`.
    pub selector: String,
    /// `exact`, `refused` (the probe failed), `unusable` (cannot be opened) or `not_probed`.
    pub verdict: &'static str,
    /// Why it is refused or unusable.
    pub detail: Option<String>,
}

impl Adapters {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let reports = reports(!self.list_only);
        if global.json {
            print::json(&reports)?;
        } else {
            print::text(text(&reports))?;
        }
        Ok(Exit::Done)
    }
}

#[cfg(feature = "gpu")]
pub(crate) fn reports(probed: bool) -> Vec<AdapterReport> {
    use isoframe_raster::gpu::{AdapterChoice, adapters, probe};
    let report = |info: isoframe_raster::gpu::AdapterInfo| {
        let selector = format!("{}:{}", info.backend, info.name);
        let (verdict, detail) = match (&info.unfit, probed) {
            (Some(reason), _) => ("unusable", Some(reason.clone())),
            (None, false) => ("not_probed", None),
            (None, true) => match probe(&AdapterChoice::Named(selector.clone())) {
                Ok((_, report)) if report.failed.is_empty() => ("exact", None),
                Ok((_, report)) => {
                    let failed = report.failed.iter().map(|(name, first)| format!("{name}: {first}"));
                    ("refused", Some(failed.collect::<Vec<_>>().join("; ")))
                }
                Err(error) => ("unusable", Some(error.to_string())),
            },
        };
        AdapterReport { info, selector, verdict, detail }
    };
    adapters().into_iter().map(report).collect()
}

#[cfg(not(feature = "gpu"))]
pub(crate) fn reports(_probed: bool) -> Vec<AdapterReport> {
    Vec::new()
}

#[cfg(feature = "gpu")]
fn text(reports: &[AdapterReport]) -> String {
    if reports.is_empty() {
        return "No adapter: this machine has no Vulkan, Metal, DirectX 12 or OpenGL driver that wgpu can open.\n\
                The CPU backend renders the same bytes.\n"
            .into();
    }
    let mut table = super::table::Table::new(["adapter", "api", "kind", "driver", "exactness"]);
    for report in reports {
        let kind = if report.info.software { "software" } else { report.info.device_type.as_str() };
        let driver = format!("{} {}", report.info.driver, report.info.driver_info);
        table.row([
            report.info.name.clone(),
            report.info.backend.clone(),
            kind.into(),
            driver.trim().into(),
            report.verdict.replace('_', " "),
        ]);
    }
    let mut text = table.to_string();
    for report in reports {
        if let Some(detail) = &report.detail {
            text.push_str(&format!("\n{}: {detail}\n", report.selector));
        }
    }
    text.push_str("\n--backend auto takes the first that is not software; --adapter takes part of a name, or api:name.\n");
    text
}

#[cfg(not(feature = "gpu"))]
fn text(_reports: &[AdapterReport]) -> String {
    "This build has no wgpu backend (feature `gpu`). The CPU backend renders the same bytes.\n".into()
}
