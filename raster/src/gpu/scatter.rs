//! Scattering by surfaces, asked of a device by itself: a pass for tests of `bsdf.wgsl`, which frames include.

use super::buffers::{self, Pool};
use super::device::Device;
use super::layout::{self, WORKGROUP};
use super::pass::{Binding, Pass, Pipeline, Workgroups};
use super::shader::{self, Constant};
use crate::frame::RenderError;

/// Parts of a case: the surface, the directions, what chooses.
pub const CASE_PARTS: usize = 11;
/// Parts of an answer.
pub const RESULT_PARTS: usize = 7;

/// The pass that answers.
pub(super) const PASS: Pass = Pass {
    label: "raster.scatter",
    stem: "scatter",
    entry: "main",
    workgroup: [WORKGROUP, 1, 1],
    bindings: &[
        Binding::uniform("u"),
        Binding::read("tables"),
        Binding::read("cases"),
        Binding::write("results"),
    ],
};

/// All lobes, and the lengths of lists.
pub(super) fn constants() -> Vec<Constant> {
    let lobes = ["CLEARCOAT", "SHEEN", "ANISOTROPY", "TRANSMISSION", "IRIDESCENCE"];
    let mut all: Vec<_> = lobes.map(|name| Constant::Bool(name, true)).to_vec();
    all.push(Constant::U32("SCATTER_CASE_PARTS", CASE_PARTS as u32));
    all.push(Constant::U32("SCATTER_RESULT_PARTS", RESULT_PARTS as u32));
    all
}

/// The shader.
pub(super) fn source() -> String {
    shader::compose(PASS.stem, &[layout::constants(), constants()].concat())
}

/// What the device answers to cases, a whole number of workgroups of them. *Errors*: the device failed.
pub(super) fn answers(
    device: &Device,
    cases: &[[[f32; 4]; CASE_PARTS]],
) -> Result<Vec<[[f32; 4]; RESULT_PARTS]>, RenderError> {
    assert!(cases.len().is_multiple_of(WORKGROUP as usize));
    let pipeline = Pipeline::new(device, &PASS, &source())?;
    let mut pool = Pool::default();
    let table_buffer = buffers::upload(device, "scatter tables", &layout::albedo_tables())?;
    let case_buffer = buffers::upload(device, "scatter cases", cases.as_flattened())?;
    let bytes = (cases.len() * size_of::<[[f32; 4]; RESULT_PARTS]>()) as u64;
    let result_buffer = pool.storage(device, "scatter results", bytes)?;
    let readback = pool.readback(device, "scatter readback", bytes)?;
    let uniform = buffers::uniform(device, "scatter uniform", &[0u32; 4]);
    let bound = [&uniform, &table_buffer, &case_buffer, &result_buffer];
    let resources = bound.map(wgpu::Buffer::as_entire_binding);
    let mut commands = device.wgpu().create_command_encoder(&Default::default());
    let workgroups = Workgroups::Fixed([cases.len() as u32 / WORKGROUP, 1, 1]);
    pipeline.record(device, &mut commands.begin_compute_pass(&Default::default()), &resources, workgroups);
    commands.copy_buffer_to_buffer(&result_buffer, 0, &readback, 0, bytes);
    let index = device.submit(commands)?;
    let mut results = Vec::new();
    buffers::read(device, &readback, index, cases.len(), |answers: &[[[f32; 4]; RESULT_PARTS]]| {
        results.extend_from_slice(answers)
    })?;
    Ok(results)
}
