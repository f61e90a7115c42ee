//! Choosing a device by name.

use pace_model::Error;
use pace_model::device::device;

#[cfg(any(feature = "flex", feature = "ndarray"))]
#[test]
fn the_default_is_a_cpu_device() {
    assert!(device("").is_ok());
}

#[test]
fn unknown_names_list_the_known_ones() {
    let error = device("abacus").unwrap_err();
    assert!(matches!(error, Error::UnknownDevice { .. }));
    assert!(error.to_string().contains("flex"), "{error}");
    assert!(device("flex:1").is_err());
}

#[cfg(not(feature = "cuda"))]
#[test]
fn absent_devices_name_their_feature() {
    let error = device("cuda:1").unwrap_err();
    assert!(error.to_string().contains("--features cuda"), "{error}");
}

#[cfg(feature = "cuda")]
#[test]
fn cuda_indices_are_numbers() {
    assert!(matches!(device("cuda:first"), Err(Error::DeviceIndex { .. })));
}
