// What happens at single sites after one step of a batch of sound, in 256 bytes. Numbers of entries of `lists`: places of what is added, of what is overwritten, of what is gathered; values of
// the first two.
struct Moment {
    first: u32,       // additions: places first .. last, ascending
    last: u32,
    set_first: u32,   // overwritten sites: their places, `sets` of them; their values
    set_values: u32,
    sets: u32,
    gather_first: u32,
    gathers: u32,
    record: u32,      // where the gathered values go
    first_value: u32, // the first addition's value
    rest: array<vec4u, 13>,
}
