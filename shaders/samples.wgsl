// Where the coverage samples of a pixel lie. *Units*: 1/16 pixel from its centre.

fn sample_offset(sample_index: u32) -> vec2<i32> {
    var offset = vec2<i32>(0);
    //#for s in SAMPLES
    offset = select(offset, vec2<i32>(SAMPLE_X_$s, SAMPLE_Y_$s), vec2<bool>(sample_index == $su));
    //#end
    return offset;
}
