//! Long renders: light traced part by part, so that it can be watched, kept and gone on with.

use std::time::Instant;

use isoframe_raster::accumulate::Accumulated;
use isoframe_raster::backend::{Backend, Cancel, Job};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ColorFormat, RenderError};
use isoframe_raster::prepared::Prepared;

use super::{Frames, FramesError, Rendered, Timings, check_inputs};
use crate::fallback::{Fallback, Reason};
use crate::plan::Plan;

/// Light samples of a part; parts end at its multiples.
pub const PART_SAMPLES: u32 = 16;

impl Frames {
    /// Renders a plan whose light is traced, going on from `light`; `each` is shown the light after every part.
    /// *Errors*: those of [`Frames::render`], and what `each` returns.
    pub fn render_in_parts<E: From<FramesError>>(
        &self,
        plan: &Plan,
        scene: &Prepared,
        environment: &Environment,
        color: ColorFormat,
        cancel: &Cancel,
        mut light: Accumulated,
        mut each: impl FnMut(&Accumulated) -> Result<(), E>,
    ) -> Result<Rendered, E> {
        check_inputs(plan, scene, environment)?;
        let request = plan.request();
        let job = Job { scene, environment, request, color, cancel };
        let start = Instant::now();
        let Backend::Cpu(cpu) = &self.cpu else {
            let frame = self.render(plan, scene, environment, color, cancel)?;
            return Ok(frame);
        };
        let failed = |error: RenderError| E::from(FramesError::from(error));
        let count = request.lighting.traced.map_or(0, |traced| traced.samples);
        while light.end() < count {
            let end = (light.end() / PART_SAMPLES + 1) * PART_SAMPLES;
            light.append(cpu.trace(&job, light.end()..end.min(count)).map_err(failed)?);
            each(&light)?;
        }
        let frame = cpu.resolve(&job, &light).map_err(failed)?;
        let fallback = self.device.is_some().then(|| Fallback {
            reason: Reason::DeviceLimit,
            detail: "light is traced in parts on the cpu".into(),
        });
        Ok(Rendered {
            frame,
            backend: self.cpu.name(),
            fallback,
            timings: Timings { render: start.elapsed() },
        })
    }
}
