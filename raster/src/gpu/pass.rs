//! A pass on the device: what it binds, and its pipeline.

use super::device::Device;
use crate::frame::RenderError;

/// How a pass uses a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
    /// `texture_2d<u32>`: a list.
    List,
    /// `texture_storage_2d<rgba32uint, write>`: a list to fill.
    FilledList,
    /// `texture_2d_array<u32>`: a list in layers.
    LayeredList,
}

impl Access {
    /// Name for tests.
    pub fn name(self) -> &'static str {
        match self {
            Access::Uniform => "uniform",
            Access::Read => "read",
            Access::ReadWrite => "read_write",
            Access::List => "list",
            Access::FilledList => "filled_list",
            Access::LayeredList => "layered_list",
        }
    }
}

/// One binding of group 0; its place in [`Pass::bindings`] is its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    /// Name of the variable in WGSL.
    pub name: &'static str,
    /// How it is used.
    pub access: Access,
}

impl Binding {
    pub const fn uniform(name: &'static str) -> Binding {
        Binding { name, access: Access::Uniform }
    }

    pub const fn read(name: &'static str) -> Binding {
        Binding { name, access: Access::Read }
    }

    pub const fn write(name: &'static str) -> Binding {
        Binding { name, access: Access::ReadWrite }
    }

    pub const fn list(name: &'static str) -> Binding {
        Binding { name, access: Access::List }
    }

    pub const fn filled(name: &'static str) -> Binding {
        Binding { name, access: Access::FilledList }
    }

    pub const fn layered(name: &'static str) -> Binding {
        Binding { name, access: Access::LayeredList }
    }

    fn layout(&self, number: u32) -> wgpu::BindGroupLayoutEntry {
        let texture = |view_dimension| wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Uint,
            view_dimension,
            multisampled: false,
        };
        let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        wgpu::BindGroupLayoutEntry {
            binding: number,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: match self.access {
                Access::Uniform => buffer(wgpu::BufferBindingType::Uniform),
                Access::Read => buffer(wgpu::BufferBindingType::Storage { read_only: true }),
                Access::ReadWrite => buffer(wgpu::BufferBindingType::Storage { read_only: false }),
                Access::List => texture(wgpu::TextureViewDimension::D2),
                Access::LayeredList => texture(wgpu::TextureViewDimension::D2Array),
                Access::FilledList => wgpu::BindingType::StorageTexture {
                    access: wgpu::StorageTextureAccess::WriteOnly,
                    format: wgpu::TextureFormat::Rgba32Uint,
                    view_dimension: wgpu::TextureViewDimension::D2,
                },
            },
            count: None,
        }
    }
}

/// What a pass is: its shader, its entry point, what it reads and writes.
#[derive(Debug)]
pub(crate) struct Pass {
    /// Label, `raster.` and the stem of the twin.
    pub label: &'static str,
    /// File under `shaders/`.
    pub stem: &'static str,
    /// Entry point in it.
    pub entry: &'static str,
    /// Workgroup size.
    pub workgroup: [u32; 3],
    /// Bindings of group 0, in order of number.
    pub bindings: &'static [Binding],
}

/// A pass made ready on one device.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pass: &'static Pass,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// How many workgroups a pass runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Workgroups<'a> {
    /// As said.
    Fixed([u32; 3]),
    /// As the device found: a buffer of sizes, and the place of the size in it.
    Planned(&'a wgpu::Buffer, u32),
}

impl Pipeline {
    /// Compiles a pass from its text.
    pub fn new(device: &Device, pass: &'static Pass, source: &str) -> Result<Pipeline, RenderError> {
        let label = Some(pass.label);
        let module = device.wgpu().create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let entries: Vec<_> = pass.bindings.iter().zip(0..).map(|(b, number)| b.layout(number)).collect();
        let layout = device
            .wgpu()
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let pipeline_layout = device.wgpu().create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.wgpu().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some(pass.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                // No shader reads shared memory that it has not written.
                zero_initialize_workgroup_memory: pass.stem == "probe",
                ..Default::default()
            },
            cache: None,
        });
        device.check()?;
        Ok(Pipeline { pass, pipeline, layout })
    }

    /// Records the pass over `workgroups`, with `resources` in the order of [`Pass::bindings`].
    pub fn record(
        &self,
        device: &Device,
        commands: &mut wgpu::ComputePass<'_>,
        resources: &[wgpu::BindingResource<'_>],
        workgroups: Workgroups<'_>,
    ) {
        assert_eq!(resources.len(), self.pass.bindings.len(), "{}", self.pass.label);
        let entries: Vec<_> = resources
            .iter()
            .zip(0..)
            .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
            .collect();
        let group = device.wgpu().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.pass.label),
            layout: &self.layout,
            entries: &entries,
        });
        commands.set_pipeline(&self.pipeline);
        commands.set_bind_group(0, &group, &[]);
        match workgroups {
            Workgroups::Fixed([x, y, z]) => commands.dispatch_workgroups(x, y, z),
            Workgroups::Planned(plans, place) => {
                commands.dispatch_workgroups_indirect(plans, u64::from(place) * 16);
            }
        }
    }
}
