//! The run-time choice of a Burn [`Device`] by name, and the optimiser's step on it.
//!
//! `Device::default()` follows cargo feature unification, so the same binary can change device because an unrelated crate
//! asked for a feature. Commands and tests name theirs.

use burn::tensor::Device;

use crate::Error;

pub use crate::kernel::AdamStep;

/// The names [`device`] accepts, for messages and help texts.
pub const NAMES: &str = "flex, ndarray, cuda, cuda:<index>, vulkan, vulkan:cpu, vulkan:<index>";

/// The device called `name`, without autodiff; the empty name is the best CPU device of this build.
///
/// | name | what | feature |
/// |---|---|---|
/// | `flex` | Burn's CPU backend, the one the fused kernels serve | `flex` |
/// | `ndarray` | the older CPU backend | `ndarray` |
/// | `cuda`, `cuda:1` | an NVIDIA GPU, by index | `cuda` |
/// | `vulkan`, `vulkan:1`, `vulkan:cpu` | a Vulkan GPU by index, or the software device | `vulkan` |
///
/// # Errors
///
/// An unknown name, a device that is not in this build, or a CUDA device on a machine without the driver. The driver is
/// probed here because without it the first operation panics on a server thread, far from the cause.
///
/// ```
/// let device = pace_model::device::device("")?;
/// assert!(pace_model::device::device("abacus").is_err());
/// # drop(device);
/// # Ok::<(), pace_model::Error>(())
/// ```
pub fn device(name: &str) -> Result<Device, Error> {
    let (kind, index) = match name.split_once(':') {
        Some((kind, index)) => (kind, Some(index)),
        None => (name, None),
    };
    match (kind, index) {
        ("", None) => cpu(name),
        ("flex", None) => flex(name),
        ("ndarray", None) => ndarray(name),
        ("cuda", index) => cuda(name, index),
        ("vulkan", index) => vulkan(name, index),
        _ => Err(Error::UnknownDevice { name: name.to_owned(), known: NAMES }),
    }
}

/// Whether this is the CPU device that the fused kernels serve, with or without autodiff.
pub fn is_flex(device: &Device) -> bool {
    #[cfg(feature = "flex")]
    return matches!(device.clone().inner().as_dispatch(), burn::backend::DispatchDevice::Flex(_));
    #[cfg(not(feature = "flex"))]
    {
        let _ = device;
        false
    }
}

/// Flex where it is built, else ndarray.
fn cpu(name: &str) -> Result<Device, Error> {
    if cfg!(feature = "flex") { flex(name) } else { ndarray(name) }
}

#[cfg(feature = "flex")]
fn flex(_name: &str) -> Result<Device, Error> {
    Ok(Device::flex())
}

#[cfg(not(feature = "flex"))]
fn flex(name: &str) -> Result<Device, Error> {
    Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: "flex" })
}

#[cfg(feature = "ndarray")]
#[allow(deprecated)] // kept as a second CPU implementation to test against
fn ndarray(_name: &str) -> Result<Device, Error> {
    Ok(Device::ndarray())
}

#[cfg(not(feature = "ndarray"))]
fn ndarray(name: &str) -> Result<Device, Error> {
    Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: "ndarray" })
}

/// `None` is 0; anything but a number is an error.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn parse_index(name: &str, index: Option<&str>) -> Result<usize, Error> {
    index.unwrap_or("0").parse().map_err(|_| Error::DeviceIndex { name: name.to_owned() })
}

#[cfg(feature = "cuda")]
fn cuda(name: &str, index: Option<&str>) -> Result<Device, Error> {
    let index = parse_index(name, index)?;
    probe_cuda(name)?;
    Ok(Device::cuda(index))
}

/// Looks for the driver library where the loader would, to fail here rather than on a server thread.
#[cfg(feature = "cuda")]
fn probe_cuda(name: &str) -> Result<(), Error> {
    let library = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let usual =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib"];
    let listed = std::env::var_os(variable).unwrap_or_default();
    let mut folders = std::env::split_paths(&listed).chain(usual.map(Into::into));
    if folders.any(|folder| folder.join(library).exists()) {
        return Ok(());
    }
    let reason = format!("not in {variable} nor in the usual folders");
    Err(Error::DriverMissing { name: name.to_owned(), library, reason })
}

#[cfg(not(feature = "cuda"))]
fn cuda(name: &str, _index: Option<&str>) -> Result<Device, Error> {
    Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: "cuda" })
}

#[cfg(feature = "vulkan")]
fn vulkan(name: &str, index: Option<&str>) -> Result<Device, Error> {
    use burn::tensor::DeviceKind;
    let kind = match index {
        None => DeviceKind::DefaultDevice,
        Some("cpu") => DeviceKind::Cpu,
        index => DeviceKind::DiscreteGpu(parse_index(name, index)?),
    };
    Ok(Device::vulkan(kind))
}

#[cfg(not(feature = "vulkan"))]
fn vulkan(name: &str, _index: Option<&str>) -> Result<Device, Error> {
    Err(Error::DeviceNotBuilt { name: name.to_owned(), feature: "vulkan" })
}
