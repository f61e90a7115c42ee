//! [`Packed`]: a network whose weights take one byte each.

use super::bytes::Bytes;
use super::network::Network;
use crate::error::Error;

/// Rows of W1 and W2 as integers -127..=127 times a scale per row. The other parameters are not packed.
///
/// A weight changes by at most 1/254 of the largest weight of its row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packed {
    n_features: usize,
    width: usize,
    /// One per row of W1, then of W2.
    scales: Vec<f32>,
    /// W1, then W2.
    steps: Vec<i8>,
    /// b1, b2, w3, b3.
    plain: Vec<f32>,
}

impl Packed {
    pub(crate) fn new(network: &Network) -> Packed {
        let (view, width) = (network.view(), network.width());
        let (mut scales, mut steps) = (Vec::new(), Vec::new());
        for row in view.w1.chunks_exact(width).chain(view.w2.chunks_exact(width)) {
            let largest = row.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
            // A row of zeros has no scale to divide by.
            let scale = (largest / 127.0).max(f32::MIN_POSITIVE);
            scales.push(scale);
            steps.extend(row.iter().map(|weight| (weight / scale).round() as i8));
        }
        let plain = [view.b1, view.b2, view.w3, view.b3].concat();
        Packed { n_features: network.n_features(), width, scales, steps, plain }
    }

    /// The network with the rounded weights.
    pub(crate) fn unpack(&self) -> Network {
        let (width, first) = (self.width, self.n_features * self.width);
        let rows = self.steps.chunks_exact(width).zip(&self.scales);
        let weights: Vec<f32> =
            rows.flat_map(|(row, scale)| row.iter().map(move |&step| f32::from(step) * scale)).collect();
        let (w1, w2) = weights.split_at(first);
        let parameters = [w1, &self.plain[..width], w2, &self.plain[width..]].concat();
        Network::from_parameters(self.n_features, width, parameters).expect("the sizes of a network")
    }

    /// The number of bytes of one network.
    pub(crate) fn n_bytes(n_features: usize, width: usize) -> usize {
        let n_rows = n_features + width;
        size_of::<f32>() * n_rows + n_rows * width + size_of::<f32>() * (3 * width + 1)
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.scales.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(self.steps.iter().flat_map(|step| step.to_le_bytes()));
        bytes.extend(self.plain.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(crate) fn read(bytes: &mut Bytes<'_>, n_features: usize, width: usize) -> Result<Packed, Error> {
        let n_rows = n_features + width;
        let scales = bytes.f32s(n_rows)?;
        let steps = bytes.take(n_rows * width)?.iter().map(|&byte| byte as i8).collect();
        let plain = bytes.f32s(3 * width + 1)?;
        if !scales.iter().chain(&plain).all(|number| number.is_finite()) {
            return Err(bytes.wrong("some are not finite"));
        }
        Ok(Packed { n_features, width, scales, steps, plain })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn packing_moves_a_weight_by_half_a_step_at_most() {
        let network = Network::random(5, 8, 1.0, &mut ChaCha8Rng::seed_from_u64(1));
        let packed = Packed::new(&network);
        let unpacked = packed.unpack();
        assert_eq!(network.view().w3, unpacked.view().w3);
        let rows = network.view().w2.chunks_exact(8).zip(unpacked.view().w2.chunks_exact(8));
        for (row, (before, after)) in rows.enumerate() {
            let half = 0.5001 * packed.scales[5 + row];
            assert!(before.iter().zip(after).all(|(before, after)| (before - after).abs() <= half));
        }
        let mut bytes = Vec::new();
        packed.write(&mut bytes);
        assert_eq!(bytes.len(), Packed::n_bytes(5, 8));
        let mut bytes = Bytes::after(&bytes, "", "test").unwrap();
        assert_eq!(Packed::read(&mut bytes, 5, 8).unwrap(), packed);
    }
}
