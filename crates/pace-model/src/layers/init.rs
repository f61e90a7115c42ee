//! [`Init`]: seeded initial parameters, drawn in one fixed order from one explicit generator.
//!
//! Burn's own initialisers draw from a generator of the device when a parameter is first used, so the numbers depend on
//! what else uses the device. These do not: the same seed gives the same parameters on every device.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// A source of initial parameters on one device.
#[derive(Debug)]
pub struct Init<'a> {
    device: &'a Device,
    rng: ChaCha8Rng,
}

impl<'a> Init<'a> {
    /// Parameters drawn from `seed`; trainable at once if the device records gradients.
    pub fn new(seed: u64, device: &'a Device) -> Init<'a> {
        Init { device, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A copy that draws what this one would draw next.
    pub fn fork(&self) -> Init<'a> {
        Init { device: self.device, rng: self.rng.clone() }
    }

    /// The device that the parameters live on.
    pub fn device(&self) -> &'a Device {
        self.device
    }

    /// Uniform in (-bound, bound).
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let range = Uniform::new(-bound as f32, bound as f32).expect("a positive bound");
        let values = (0..shape.iter().product()).map(|_| range.sample(&mut self.rng)).collect();
        self.param(values, shape)
    }

    /// Xavier (Glorot & Bengio, 2010): uniform with bound `gain * sqrt(6 / (d_in + d_out))`. [d_in, d_out].
    pub fn xavier(&mut self, d_in: usize, d_out: usize, gain: f64) -> Param<Tensor<2>> {
        self.uniform([d_in, d_out], gain * (6.0 / (d_in + d_out) as f64).sqrt())
    }

    /// Standard normal.
    pub fn normal<const D: usize>(&mut self, shape: [usize; D]) -> Param<Tensor<D>> {
        self.normal_of(shape, 1.0)
    }

    /// Normal with this standard deviation.
    pub fn normal_of<const D: usize>(&mut self, shape: [usize; D], std: f32) -> Param<Tensor<D>> {
        let draw = |_| -> f32 { std * Distribution::<f32>::sample(&StandardNormal, &mut self.rng) };
        let values = (0..shape.iter().product()).map(draw).collect();
        self.param(values, shape)
    }

    /// All elements `value`.
    pub fn constant<const D: usize>(&mut self, shape: [usize; D], value: f32) -> Param<Tensor<D>> {
        self.param(vec![value; shape.iter().product()], shape)
    }

    /// A linear layer as PyTorch initialises it: weight and bias uniform with bound `1 / sqrt(d_in)`.
    pub fn linear(&mut self, d_in: usize, d_out: usize, bias: bool) -> Linear {
        let bound = 1.0 / (d_in as f64).sqrt();
        let weight = self.uniform([d_in, d_out], bound);
        Linear { weight, bias: bias.then(|| self.uniform([d_out], bound)) }
    }

    fn param<const D: usize>(&self, values: Vec<f32>, shape: [usize; D]) -> Param<Tensor<D>> {
        Param::from_data(TensorData::new(values, shape), self.device)
    }
}
