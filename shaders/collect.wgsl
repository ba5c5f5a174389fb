// Fragments: the distinct triangles of a pixel's samples, in order of their first sample. Twin of
// `collect_fragments` in raster/src/cpu/items.rs.
//
// An order is a triangle times PIECES and the piece of it that clipping made: pieces of one triangle are that
// triangle.
// An item is (order, x | y << 16, mask | point << 16 | flags, key): y counts from the band's top; `point` is the sample
// it is shaded at, POINT_CENTRE for the middle; ITEM_FIRST says that the data outputs show it, ITEM_LAYER that it is
// blended over what lies behind.

fn is_inside(x: u32, y: u32) -> bool {
    return x < u.width && y + band.first_tile_row * TILE < u.height && y < band.tiles_y * TILE;
}

// How many distinct triangles the samples show.
fn distinct(
    //#for s in SAMPLES
    order_$s: u32,
    //#end
) -> u32 {
    var count = 0u;
    //#for s in SAMPLES
    {
        var is_new = order_$s != NOTHING;
        //#for t in $s
        is_new = is_new && (order_$t / PIECES) != (order_$s / PIECES);
        //#end
        count += select(0u, 1u, is_new);
    }
    //#end
    return count;
}

fn list_item(number: u32, order: u32, x: u32, y: u32, mask: u32, first_sample: u32, key: u32) {
    if number >= band.item_capacity {
        return;
    }
    let point = select(first_sample, POINT_CENTRE, mask == (1u << SAMPLES) - 1u);
    let first = select(0u, ITEM_FIRST, (mask & 1u) != 0u);
    textureStore(items, place(number), vec4<u32>(order, x | (y << 16u), mask | (point << 16u) | first, key));
}

fn list_fragments(
    first: u32,
    x: u32,
    y: u32,
    //#for s in SAMPLES
    order_$s: u32,
    //#end
) {
    var number = first;
    //#for s in SAMPLES
    {
        var is_new = order_$s != NOTHING;
        //#for t in $s
        is_new = is_new && (order_$t / PIECES) != (order_$s / PIECES);
        //#end
        var mask = 0u;
        //#for t in SAMPLES
        mask |= select(0u, 1u << $tu, (order_$t / PIECES) == (order_$s / PIECES));
        //#end
        if is_new {
            list_item(number, order_$s, x, y, mask, $su, 0u);
            number += 1u;
        }
    }
    //#end
}
