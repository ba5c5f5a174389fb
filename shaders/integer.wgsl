// 64-bit integers as two u32 limbs, low first: two of the drivers have no wider type.

// The whole product of two u32.
fn mul_wide(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xFFFFu;
    let a1 = a >> 16u;
    let b0 = b & 0xFFFFu;
    let b1 = b >> 16u;
    let low = a0 * b0;
    let middle = a1 * b0 + (low >> 16u);
    let cross = a0 * b1 + (middle & 0xFFFFu);
    return vec2<u32>((cross << 16u) | (low & 0xFFFFu), a1 * b1 + (middle >> 16u) + (cross >> 16u));
}

// The whole product of two i32, in two's complement.
fn mul_wide_signed(a: i32, b: i32) -> vec2<u32> {
    let x = bitcast<u32>(a);
    let y = bitcast<u32>(b);
    let p = mul_wide(x, y);
    let correction = select(0u, y, a < 0) + select(0u, x, b < 0);
    return vec2<u32>(p.x, p.y - correction);
}

fn add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn sub_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
