//! Mode 1: triangle lists, as edges and vertices seen a moment ago.

use super::Broken;
use super::stream::{Stream, split_tail, unzigzag};

/// The last sixteen things pushed.
struct Fifo<T> {
    entries: [T; 16],
    pushed: usize,
}

impl<T: Copy + Default> Fifo<T> {
    fn new() -> Self {
        Fifo { entries: [T::default(); 16], pushed: 0 }
    }

    fn push(&mut self, entry: T) {
        self.entries[self.pushed % 16] = entry;
        self.pushed += 1;
    }

    /// The entry pushed `back` pushes before the latest.
    fn get(&self, back: usize) -> Result<T, Broken> {
        if back >= self.pushed.min(16) {
            return Err("an edge or vertex is used before it was seen");
        }
        Ok(self.entries[(self.pushed - 1 - back) % 16])
    }
}

struct Decoder<'b> {
    data: Stream<'b>,
    codes: &'b [u8],
    next: u32,
    last: u32,
    edges: Fifo<[u32; 2]>,
    vertices: Fifo<u32>,
}

/// Decodes `count` indices, a multiple of three.
pub(super) fn decode(packed: &[u8], count: usize) -> Result<Vec<u32>, Broken> {
    let mut stream = Stream::new(packed);
    if stream.byte()? != 0xE1 {
        return Err("the header of a triangle stream is missing");
    }
    let triangles = stream.take(count / 3)?;
    let (data, codes) = split_tail(&packed[1 + count / 3..], 16)?;
    let digits = |code: &u8| code >> 4 != 0xF && code & 0xF != 0xF;
    if codes[14..] != [0, 0] || !codes.iter().all(digits) {
        return Err("the table of codes is broken");
    }
    let mut decoder = Decoder {
        data: Stream::new(data),
        codes,
        next: 0,
        last: 0,
        edges: Fifo::new(),
        vertices: Fifo::new(),
    };
    let mut out = Vec::with_capacity(count);
    for &code in triangles {
        let triangle = match code >> 4 {
            0xF => decoder.free(code & 0xF)?,
            edge => decoder.on_edge(edge, code & 0xF)?,
        };
        out.extend_from_slice(&triangle);
    }
    decoder.data.end()?;
    Ok(out)
}

impl Decoder<'_> {
    fn take_next(&mut self) -> u32 {
        let next = self.next;
        self.next = next.wrapping_add(1);
        next
    }

    fn explicit(&mut self) -> Result<u32, Broken> {
        self.last = self.last.wrapping_add(unzigzag(self.data.varint()?));
        Ok(self.last)
    }

    /// A triangle on an edge seen before.
    fn on_edge(&mut self, edge: u8, vertex: u8) -> Result<[u32; 3], Broken> {
        let [a, b] = self.edges.get(usize::from(edge))?;
        let (c, fresh) = match vertex {
            0 => (self.take_next(), true),
            0xD | 0xE => {
                let step = if vertex == 0xD { u32::MAX } else { 1 };
                self.last = self.last.wrapping_add(step);
                (self.last, true)
            }
            0xF => (self.explicit()?, true),
            back => (self.vertices.get(usize::from(back))?, false),
        };
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        if fresh {
            self.vertices.push(c);
        }
        Ok([a, b, c])
    }

    /// A triangle of three vertices on their own.
    fn free(&mut self, code: u8) -> Result<[u32; 3], Broken> {
        let from_table = code < 0xE;
        let pair = if from_table { self.codes[usize::from(code)] } else { self.data.byte()? };
        if !from_table && pair == 0 {
            self.next = 0;
        }
        let a = if code == 0xF { self.explicit()? } else { self.take_next() };
        let (b, fresh_b) = self.corner(pair >> 4)?;
        let (c, fresh_c) = self.corner(pair & 0xF)?;
        self.edges.push([b, a]);
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        self.vertices.push(a);
        if fresh_b {
            self.vertices.push(b);
        }
        if fresh_c {
            self.vertices.push(c);
        }
        Ok([a, b, c])
    }

    /// A vertex and whether it is new to the list of vertices.
    fn corner(&mut self, digit: u8) -> Result<(u32, bool), Broken> {
        Ok(match digit {
            0 => (self.take_next(), true),
            0xF => (self.explicit()?, true),
            back => (self.vertices.get(usize::from(back) - 1)?, false),
        })
    }
}
