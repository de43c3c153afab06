// Bytes of a buffer as pixels of a canvas, by which a page reads them back: three bytes a pixel, since browsers multiply colours with an opacity that is not full. The pixel behind
// the last has the number of the copy, by which the host sees that it took place.

struct Copy {
    // The word where the bytes begin.
    first: u32,
    // Pixels that have bytes.
    pixels: u32,
    // Of 24 bits.
    number: u32,
    rest: u32,
}

@group(0) @binding(0) var<uniform> copy: Copy;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> pixels: array<u32>;

const OPAQUE: u32 = 0xff000000u;

@compute @workgroup_size(256)
fn read_back(@builtin(global_invocation_id) id: vec3u) {
    let n = id.x;
    if n < copy.pixels {
        let byte = 3u * n;
        let word = copy.first + byte / 4u;
        let shift = 8u * (byte % 4u);
        var value = words[word] >> shift;
        if shift > 8u && word + 1u < arrayLength(&words) {
            value |= words[word + 1u] << (32u - shift);
        }
        pixels[n] = OPAQUE | (value & 0xffffffu);
    } else if n == copy.pixels {
        pixels[n] = OPAQUE | copy.number;
    }
}
