// The exactness probe: one case per row of the table in raster/src/gpu/probe.rs, compared there with Rust.
//#include prelude
//#include exact
//#include integer

struct Uniform {
    zero: u32,
}

@group(0) @binding(0) var<uniform> u: Uniform;

@group(0) @binding(1) var<storage, read> inputs: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> results: array<vec2<u32>>;

var<workgroup> lowest: atomic<u32>;
var<workgroup> highest: atomic<u32>;
var<workgroup> total: atomic<u32>;
var<workgroup> any_bits: atomic<u32>;

fn bits2(x: f32, y: f32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(y));
}

fn signed_bits2(x: i32, y: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(y));
}

fn run(probe: u32, v: vec4<u32>) -> vec2<u32> {
    let a = bitcast<f32>(v.x);
    let b = bitcast<f32>(v.y);
    let c = bitcast<f32>(v.z);
    let d = bitcast<f32>(v.w);
    let i = bitcast<i32>(v.x);
    let j = bitcast<i32>(v.y);
    switch probe {
        case PROBE_FUSED_PRODUCT: {
            return bits2(mul(a, b) - c, mul(a, b) + mul(c, d));
        }
        case PROBE_REGROUPED_SUM: {
            return bits2(guard(a + b) - a, guard(guard(a + b) + c) + d);
        }
        case PROBE_REGROUPED_CONSTANTS: {
            return bits2(guard(a + PROBE_MILLION) - PROBE_MILLION, mul(mul(a, 3.0), PROBE_TENTH));
        }
        case PROBE_REGROUPED_PRODUCT: {
            return bits2(mul(mul(a, b), c), mul(mul(a, a), b));
        }
        case PROBE_DISTRIBUTED_PRODUCT: {
            return bits2(mul(a + 1.0, 3.0), mul(a - b, c));
        }
        case PROBE_FACTORED_SUM: {
            return bits2(mul(a, c) + mul(b, c), mul(a, 1.0 - c) + mul(b, c));
        }
        case PROBE_DENORMALS: {
            return bits2(flush(mul(a, b)), select(2.0, 1.0, a > FLUSH_BELOW));
        }
        case PROBE_STORED_DENORMALS: {
            return bits2(flush(a), flush(b));
        }
        case PROBE_ZEROS: {
            let equal = select(0u, 1u, a - a == mul(b, -0.0));
            return vec2<u32>(bitcast<u32>(flush(mul(b - b, -1.0))), equal | bitcast<u32>(flush(floor(-abs(c - c)))));
        }
        case PROBE_FLOAT_TO_INTEGER: {
            return vec2<u32>(bitcast<u32>(i32(max(min(a, PROBE_INTEGER_MAX), -PROBE_INTEGER_MAX))), u32(max(min(b, PROBE_INTEGER_MAX), 0.0)));
        }
        case PROBE_INTEGER_TO_FLOAT: {
            return bits2(f32(i >> 7u), f32(v.y >> 8u));
        }
        case PROBE_FLOOR: {
            return bits2(floor(a), b - floor(b));
        }
        case PROBE_MIN_MAX: {
            return bits2(min(a, max(b, c)), max(abs(a), min(b, d)));
        }
        case PROBE_SELECT: {
            return bits2(select(a, b, c < d), select(a, b, v.x <= v.y));
        }
        case PROBE_RECIP: {
            return bits2(recip(a), recip(-b));
        }
        case PROBE_RSQRT: {
            return bits2(rsqrt(a), rsqrt(mul(b, b) + mul(c, c)));
        }
        case PROBE_ROOT: {
            return bits2(root(a), root(b));
        }
        case PROBE_LOG_TWO: {
            return bits2(log_two(a), log_two(b));
        }
        case PROBE_EXP_TWO: {
            return bits2(exp_two(a), exp_two(mul(a, b)));
        }
        case PROBE_SIN_COS: {
            let turned = flush2(sin_cos_turns(mul(f32(v.x >> 8u), PROBE_TURN_STEP)));
            return bits2(turned.x, turned.y);
        }
        case PROBE_WRAPPED_INTEGER: {
            return signed_bits2(i * j, i + j - bitcast<i32>(v.z));
        }
        case PROBE_SHIFT: {
            let by = v.z & 31u;
            return vec2<u32>((v.x << by) ^ (v.y >> by), bitcast<u32>((i >> by) ^ (j << by)));
        }
        case PROBE_INTEGER_DIVISION: {
            return vec2<u32>((v.x / (v.y | 1u)) ^ ((v.z % (v.w | 1u)) << 1u), (v.z / 255u) ^ (v.w % 255u));
        }
        case PROBE_WIDE_INTEGER: {
            let product = mul_wide_signed(i, j);
            return sub_wide(add_wide(product, mul_wide(v.z, v.w)), vec2<u32>(v.y, v.x));
        }
        case PROBE_BITS: {
            return vec2<u32>(countLeadingZeros(v.x >> (v.y & 31u)), countOneBits(v.z) ^ (firstTrailingBit(v.w | 0x80000000u) << 8u));
        }
        case PROBE_UNGUARDED_PRODUCT: {
            return bits2(a * b - c, a * b + c * d);
        }
        default: {
            return vec2<u32>(0u);
        }
    }
}

@compute @workgroup_size(PROBE_WORKGROUP)
fn main(
    @builtin(global_invocation_id) at: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let v = inputs[at.x];
    let probe = workgroup.x / PROBE_WORKGROUPS;
    if local == 0u {
        atomicStore(&lowest, 0xFFFFFFFFu);
    }
    workgroupBarrier();
    atomicMin(&lowest, v.x);
    atomicMax(&highest, v.x);
    atomicAdd(&total, v.y);
    atomicOr(&any_bits, v.z & 0x11111111u);
    workgroupBarrier();
    if probe == PROBE_ATOMICS {
        results[at.x] = vec2<u32>(
            atomicLoad(&lowest) ^ (atomicLoad(&highest) << 1u),
            atomicLoad(&total) ^ (atomicLoad(&any_bits) << 1u),
        );
    } else {
        results[at.x] = run(probe, v);
    }
}
