//! Which adapters there are, and which one to open.

use serde::Serialize;

use super::GpuError;
use super::device::wanted_limits;

/// Names that mark an adapter as software even where its driver calls itself something else.
const SOFTWARE_NAMES: [&str; 6] =
    ["llvmpipe", "lavapipe", "softpipe", "swiftshader", "swrast", "microsoft basic render driver"];

/// Which adapter to open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AdapterChoice {
    /// The first hardware adapter: discrete, then integrated, then virtual. Never a software one.
    #[default]
    Hardware,
    /// The first adapter, software ones too, whose name, driver or driver version contains this,
    /// in any case. `vulkan:`, `gl:`, `metal:` or `dx12:` before it asks for one API.
    Named(String),
}

/// What an adapter says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdapterInfo {
    /// Name of the device.
    pub name: String,
    /// `vulkan`, `gl`, `metal` or `dx12`.
    pub backend: String,
    /// Name of the driver; may be empty.
    pub driver: String,
    /// Version of the driver, in its own words.
    pub driver_info: String,
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub device_type: String,
    /// Whether it runs on the CPU.
    pub software: bool,
    /// What the backend may use of it.
    pub limits: AdapterLimits,
    /// Why it cannot be opened, where its limits are too small.
    pub unfit: Option<String>,
}

/// The limits that decide what fits an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct AdapterLimits {
    pub storage_binding_bytes: u64,
    pub buffer_bytes: u64,
    pub storage_buffers: u32,
    pub bind_groups: u32,
    pub workgroup_bytes: u32,
    pub workgroup_invocations: u32,
    pub workgroups_per_dimension: u32,
}

impl AdapterInfo {
    fn new(adapter: &wgpu::Adapter) -> AdapterInfo {
        let info = adapter.get_info();
        let limits = adapter.limits();
        let device_type = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "cpu",
            wgpu::DeviceType::Other => "other",
        };
        AdapterInfo {
            software: info.device_type == wgpu::DeviceType::Cpu
                || has_software_name(&info.name)
                || has_software_name(&info.driver_info),
            limits: AdapterLimits {
                storage_binding_bytes: limits.max_storage_buffer_binding_size,
                buffer_bytes: limits.max_buffer_size,
                storage_buffers: limits.max_storage_buffers_per_shader_stage,
                bind_groups: limits.max_bind_groups,
                workgroup_bytes: limits.max_compute_workgroup_storage_size,
                workgroup_invocations: limits.max_compute_invocations_per_workgroup,
                workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            },
            unfit: unfit(adapter, &limits),
            name: info.name,
            backend: info.backend.to_str().to_owned(),
            driver: info.driver,
            driver_info: info.driver_info,
            device_type: device_type.to_owned(),
        }
    }

    /// Name, API and driver in one line, for logs, headers and pins.
    pub fn title(&self) -> String {
        let driver = format!("{} {}", self.driver, self.driver_info);
        match driver.trim() {
            "" => format!("{} ({})", self.name, self.backend),
            driver => format!("{} ({}, {driver})", self.name, self.backend),
        }
    }

    /// Whether [`AdapterChoice::Named`] of `wanted` means this adapter.
    pub fn is_named(&self, wanted: &str) -> bool {
        let wanted = wanted.trim().to_lowercase();
        let rest = match wanted.split_once(':') {
            Some((backend, rest)) if ["vulkan", "gl", "metal", "dx12"].contains(&backend) => {
                if backend != self.backend {
                    return false;
                }
                rest
            }
            _ => wanted.as_str(),
        };
        [&self.name, &self.driver, &self.driver_info].iter().any(|text| text.to_lowercase().contains(rest))
            || rest == self.backend
    }

    /// Order in which adapters are listed and chosen.
    fn rank(&self) -> (u8, u8, String) {
        let kind = match self.device_type.as_str() {
            _ if self.software => 4,
            "discrete" => 0,
            "integrated" => 1,
            "virtual" => 2,
            _ => 3,
        };
        let api = match self.backend.as_str() {
            "vulkan" | "metal" => 0,
            "dx12" => 1,
            _ => 2,
        };
        (kind, api, self.name.clone())
    }
}

fn has_software_name(text: &str) -> bool {
    let text = text.to_lowercase();
    SOFTWARE_NAMES.iter().any(|name| text.contains(name))
}

/// Why the adapter cannot run the passes, if so.
fn unfit(adapter: &wgpu::Adapter, limits: &wgpu::Limits) -> Option<String> {
    let capabilities = adapter.get_downlevel_capabilities();
    if !capabilities.flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
        return Some("it has no compute shaders".to_owned());
    }
    let mut reason = None;
    wanted_limits(limits).check_limits_with_fail_fn(limits, false, |name, wanted, got| {
        reason.get_or_insert_with(|| format!("{name} is {got}, {wanted} is needed"));
    });
    reason
}

/// An instance over the APIs this build knows, and what it finds, in order of rank.
///
/// Where the machine has no driver at all the list is empty: loaders are opened at run time and their
/// absence is an ordinary answer.
pub(super) fn enumerate() -> Vec<(wgpu::Adapter, AdapterInfo)> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends =
        wgpu::Backends::VULKAN | wgpu::Backends::GL | wgpu::Backends::METAL | wgpu::Backends::DX12;
    // Neither debug labels nor validation layers: what runs in tests is what runs in the product.
    descriptor.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut found: Vec<_> = adapters
        .into_iter()
        .map(|adapter| {
            let info = AdapterInfo::new(&adapter);
            (adapter, info)
        })
        .collect();
    found.sort_by_key(|(_, info)| info.rank());
    found
}

/// All adapters, hardware first. Empty where the machine has no driver.
pub fn adapters() -> Vec<AdapterInfo> {
    enumerate().into_iter().map(|(_, info)| info).collect()
}

/// The place in `infos` (ordered as [`adapters`] orders) of the adapter that `choice` means.
fn position(choice: &AdapterChoice, infos: &[AdapterInfo]) -> Result<usize, GpuError> {
    let titles = || infos.iter().map(AdapterInfo::title).collect::<Vec<_>>();
    match choice {
        AdapterChoice::Hardware => infos
            .iter()
            .position(|info| !info.software)
            .ok_or_else(|| GpuError::NoHardware { present: titles() }),
        AdapterChoice::Named(wanted) => infos
            .iter()
            .position(|info| info.is_named(wanted))
            .ok_or_else(|| GpuError::NotFound { wanted: wanted.clone(), present: titles() }),
    }
}

/// Finds the adapter that `choice` means. *Errors*: none such, or its limits are too small.
pub(super) fn find(choice: &AdapterChoice) -> Result<(wgpu::Adapter, AdapterInfo), GpuError> {
    let mut found = enumerate();
    let infos: Vec<_> = found.iter().map(|(_, info)| info.clone()).collect();
    let (adapter, info) = found.swap_remove(position(choice, &infos)?);
    match &info.unfit {
        Some(reason) => Err(GpuError::Unfit { adapter: info.title(), reason: reason.clone() }),
        None => Ok((adapter, info)),
    }
}

/// Finds the adapter that `info` describes again, after a device was lost.
pub(super) fn find_again(info: &AdapterInfo) -> Result<wgpu::Adapter, GpuError> {
    enumerate()
        .into_iter()
        .find(|(_, found)| found == info)
        .map(|(adapter, _)| adapter)
        .ok_or_else(|| GpuError::NotFound { wanted: info.title(), present: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, backend: &str, device_type: &str, driver_info: &str) -> AdapterInfo {
        AdapterInfo {
            name: name.into(),
            backend: backend.into(),
            driver: String::new(),
            driver_info: driver_info.into(),
            device_type: device_type.into(),
            software: device_type == "cpu" || has_software_name(name),
            limits: AdapterLimits {
                storage_binding_bytes: 128 << 20,
                buffer_bytes: 1 << 30,
                storage_buffers: 10,
                bind_groups: 4,
                workgroup_bytes: 32768,
                workgroup_invocations: 256,
                workgroups_per_dimension: 65535,
            },
            unfit: None,
        }
    }

    fn machine() -> Vec<AdapterInfo> {
        let mut infos = vec![
            info("llvmpipe (LLVM 15.0.6, 256 bits)", "gl", "cpu", "4.5 Mesa 22.3.6"),
            info("llvmpipe (LLVM 15.0.6, 256 bits)", "vulkan", "cpu", "Mesa 22.3.6 (LLVM 15.0.6)"),
            info("SwiftShader Device (Subzero)", "vulkan", "cpu", "SwiftShader driver-5.0.0"),
            info("Intel UHD", "vulkan", "integrated", "Mesa 22.3.6"),
            info("NVIDIA H200", "gl", "discrete", "550.1"),
            info("NVIDIA H200", "vulkan", "discrete", "550.1"),
        ];
        infos.sort_by_key(AdapterInfo::rank);
        infos
    }

    fn check(choice: AdapterChoice, infos: &[AdapterInfo], expected: Option<(&str, &str)>) {
        let got =
            position(&choice, infos).ok().map(|at| (infos[at].name.as_str(), infos[at].backend.as_str()));
        assert_eq!(got, expected, "{choice:?}");
    }

    #[test]
    fn choices_pick_the_adapter_they_mean() {
        let all = machine();
        let software: Vec<_> = all.iter().filter(|info| info.software).cloned().collect();
        let named = |name: &str| AdapterChoice::Named(name.into());
        check(AdapterChoice::Hardware, &all, Some(("NVIDIA H200", "vulkan")));
        check(AdapterChoice::Hardware, &all[2..], Some(("Intel UHD", "vulkan")));
        check(AdapterChoice::Hardware, &software, None);
        check(AdapterChoice::Hardware, &[], None);
        check(named("nvidia"), &all, Some(("NVIDIA H200", "vulkan")));
        check(named("gl:nvidia"), &all, Some(("NVIDIA H200", "gl")));
        check(named("LLVMpipe"), &all, Some(("llvmpipe (LLVM 15.0.6, 256 bits)", "vulkan")));
        check(named("gl:llvmpipe"), &all, Some(("llvmpipe (LLVM 15.0.6, 256 bits)", "gl")));
        check(named("swiftshader"), &all, Some(("SwiftShader Device (Subzero)", "vulkan")));
        check(named("vulkan:"), &all, Some(("NVIDIA H200", "vulkan")));
        check(named("metal:nvidia"), &all, None);
        check(named("voodoo"), &all, None);
        check(named("swiftshader"), &[], None);
    }

    #[test]
    fn a_software_adapter_is_known_by_name_too() {
        assert!(info("llvmpipe", "gl", "other", "").software);
        assert!(info("Microsoft Basic Render Driver", "dx12", "discrete", "").software);
        assert!(!info("AMD Radeon", "vulkan", "other", "").software);
    }

    #[test]
    fn errors_name_what_was_wanted_and_what_there_is() {
        let error = position(&AdapterChoice::Named("voodoo".into()), &machine()).unwrap_err().to_string();
        assert!(error.contains("voodoo") && error.contains("NVIDIA H200 (vulkan, 550.1)"), "{error}");
        let error = position(&AdapterChoice::Hardware, &[]).unwrap_err().to_string();
        assert!(error.contains("no adapter"), "{error}");
    }
}
