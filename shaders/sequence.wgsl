// Sequence: the numbers that light is sampled by. Twin of raster/src/passes/sequence.rs.
//#include prelude

// Where a path gets its numbers.
struct Sequence {
    sample: u32,
    // Hash of pixel and seed.
    key: u32,
}

// Each bit of the result depends on all.
fn mix_bits(bits: u32) -> u32 {
    var x = (bits ^ (bits >> 16u)) * MIX_FIRST;
    x = (x ^ (x >> 15u)) * MIX_SECOND;
    return x ^ (x >> 16u);
}

fn join(a: u32, b: u32) -> u32 {
    return mix_bits(a ^ (b * JOIN_FACTOR + JOIN_OFFSET));
}

// Owen scrambling from the lowest bit up: a bit is flipped by a hash of those below it.
fn scramble_from_low(bits: u32, seed: u32) -> u32 {
    var x = bits ^ (bits * SCRAMBLE_FIRST);
    x += seed;
    x *= (seed >> 16u) | 1u;
    x ^= x * SCRAMBLE_SECOND;
    return x ^ (x * SCRAMBLE_THIRD);
}

// The second dimension of Sobol's sequence, bits reversed.
fn sobol_second_reversed(i: u32) -> u32 {
    var x = i ^ ((i & 0xAAAAAAAAu) >> 1u);
    x ^= (x & 0xCCCCCCCCu) >> 2u;
    x ^= (x & 0xF0F0F0F0u) >> 4u;
    x ^= (x & 0xFF00FF00u) >> 8u;
    return x ^ ((x & 0xFFFF0000u) >> 16u);
}

fn sequence_of(x: u32, y: u32, seed: u32, sample: u32) -> Sequence {
    return Sequence(sample, join(join(x, y), seed));
}

// The pair of a decision at a vertex, all 32 bits.
fn sequence_bits(s: Sequence, vertex: u32, decision: u32) -> vec2<u32> {
    let seed = join(s.key, vertex * DECISION_COUNT + decision);
    let index = reverseBits(scramble_from_low(reverseBits(s.sample), seed));
    let first = scramble_from_low(index, mix_bits(seed ^ SALT_FIRST));
    let second = scramble_from_low(sobol_second_reversed(index), mix_bits(seed ^ SALT_SECOND));
    return vec2<u32>(reverseBits(first), reverseBits(second));
}

// From 0 to below 1.
fn unit(bits: u32) -> f32 {
    return mul(f32(bits >> 8u), UNIT);
}

fn sequence_pair(s: Sequence, vertex: u32, decision: u32) -> vec2<f32> {
    let bits = sequence_bits(s, vertex, decision);
    return vec2<f32>(unit(bits.x), unit(bits.y));
}
