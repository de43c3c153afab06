//! Kernels that are not in the binary, compiled where NVIDIA's run-time compiler (NVRTC) is found, and kept on disk.
//!
//! The options are those of `kernels/build`, so that a shape compiled here does the same operations as one in the binary.

use super::{CudaError, Source};
use libloading::Library;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Options beside the architecture.
const OPTIONS: [&str; 3] = ["--std=c++17", "-ftz=true", "--fmad=true"];
/// NVRTC writes this version at most as far as these kernels need; see `kernels/build`.
const PTX_VERSION: &str = ".version 8.3";

/// A kernel's text and what it is compiled with.
#[derive(Clone, Debug)]
pub struct Program {
    /// Names the result, on disk and in errors; different programs have different names.
    pub name: String,
    /// The file's name, for messages of the compiler.
    pub file: &'static str,
    /// CUDA C++.
    pub source: &'static str,
    /// Names and texts of what it includes.
    pub headers: &'static [(&'static str, &'static str)],
    /// Names and values.
    pub defines: Vec<(&'static str, String)>,
    /// The least compute capability; the driver compiles the result for the present device.
    pub needs: Needs,
}

/// Generations of devices that kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Capability 8.0.
    Ampere,
    /// Capability 9.0: clusters of blocks, bulk copies.
    Hopper,
}

impl Program {
    /// What its source and headers include that is not among its headers.
    #[cfg(test)]
    pub fn missing(&self) -> Vec<&'static str> {
        let texts = self.headers.iter().map(|(_, text)| *text).chain([self.source]);
        let included = texts.flat_map(|text| {
            text.lines()
                .filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'))
        });
        included
            .filter(|name| !self.headers.iter().any(|(known, _)| known == name))
            .collect()
    }
}

/// A program's PTX: made before, read from `cache`, or compiled and written there.
///
/// # Errors
/// [`CudaError::NotCompiled`] without a compiler, or with what it says.
pub fn compiled(program: &Program, cache: Option<&Path>) -> Result<Source, CudaError> {
    static MADE: OnceLock<Mutex<HashMap<String, Source>>> = OnceLock::new();
    let mut made = MADE
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(source) = made.get(&program.name) {
        return Ok(*source);
    }
    let file = cache.map(|folder| folder.join(program.file_name()));
    let kept = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let ptx = if let Some(text) = kept.filter(|text| text.contains(".entry")) {
        text
    } else {
        let text = compiler().map_err(CudaError::NotCompiled)?.ptx(program)?;
        if let Some(file) = &file
            && let Err(error) = keep(file, &text)
        {
            tracing::warn!("{}: {error}; the kernel is compiled again next time", file.display());
        }
        text
    };
    // Modules stay loaded as long as the program runs, and so may their texts.
    let source = Source::compiled(
        Box::leak(program.name.clone().into_boxed_str()),
        Box::leak(ptx.into_boxed_str()),
    );
    made.insert(program.name.clone(), source);
    Ok(source)
}

impl Program {
    fn architecture(&self) -> &'static str {
        match self.needs {
            Needs::Ampere => "--gpu-architecture=compute_80",
            Needs::Hopper => "--gpu-architecture=compute_90",
        }
    }

    /// Another text, option or define gives another name.
    fn file_name(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        let headers = self.headers.iter().flat_map(|(name, text)| [*name, *text]);
        for part in [self.source, self.architecture()]
            .into_iter()
            .chain(headers)
            .chain(OPTIONS)
        {
            sum.update(part.as_bytes());
        }
        for (name, value) in &self.defines {
            sum.update(format!("{name}={value};").as_bytes());
        }
        format!("{}-{:08x}.ptx", self.name, sum.finalize())
    }
}

/// Written aside and renamed: another run never reads half of it.
fn keep(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut aside = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut aside, text.as_bytes())?;
    aside.persist(file).map_err(|error| error.error)?;
    Ok(())
}

type Handle = *mut c_void;

/// The functions of NVRTC that are used, as its header declares them.
pub struct Compiler {
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    log_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    text: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    /// The functions live as long as it does.
    _library: Library,
}

/// The compiler of this machine.
///
/// # Errors
/// Why there is none, as a text for the user.
pub fn compiler() -> Result<&'static Compiler, String> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    COMPILER.get_or_init(find).as_ref().map_err(Clone::clone)
}

/// By name in the search path of the system, then in the folders of a toolkit.
fn candidates() -> Vec<PathBuf> {
    let names: &[&str] = if cfg!(windows) {
        &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
    } else {
        &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
    };
    let mut folders: Vec<PathBuf> = ["CUDA_PATH", "CUDA_HOME"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
        .collect();
    folders.push("/usr/local/cuda".into());
    let inside = ["lib64", "lib", "bin", "bin/x64"];
    let deep = folders
        .iter()
        .flat_map(|folder| inside.iter().map(move |inner| folder.join(inner)))
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    names.iter().map(PathBuf::from).chain(deep).collect()
}

#[allow(unsafe_code, reason = "a library in C is opened")]
fn find() -> Result<Compiler, String> {
    for path in candidates() {
        // SAFETY: NVRTC's initialisers are its own and have no preconditions.
        let Ok(library) = (unsafe { Library::new(&path) }) else {
            continue;
        };
        if let Some(parent) = path.parent().filter(|parent| parent.is_absolute()) {
            // It looks for its own second library by name only; one that is loaded already is found.
            load_builtins(parent);
        }
        match bind(library) {
            Ok(compiler) => return Ok(compiler),
            Err(error) => tracing::warn!("{}: {error}", path.display()),
        }
    }
    Err("NVRTC, NVIDIA's run-time compiler, is not found; install it (CUDA toolkit 12.3 or later, or on Debian and Ubuntu \
         `apt install libnvrtc12`), or set CUDA_PATH to the toolkit's folder"
        .to_owned())
}

/// Loads NVRTC's second library and keeps it loaded.
#[allow(unsafe_code, reason = "a library in C is opened")]
fn load_builtins(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with("libnvrtc-builtins.so") || name.starts_with("nvrtc-builtins64") {
            // SAFETY: the library holds tables for NVRTC and runs nothing of its own.
            if let Ok(library) = unsafe { Library::new(&path) } {
                std::mem::forget(library);
            }
        }
    }
}

#[allow(unsafe_code, reason = "functions of a library in C")]
fn bind(library: Library) -> Result<Compiler, libloading::Error> {
    // SAFETY: the types are those of nvrtc.h, unchanged since CUDA 8; the library is kept beside the functions.
    unsafe {
        Ok(Compiler {
            create: *library.get(b"nvrtcCreateProgram\0")?,
            compile: *library.get(b"nvrtcCompileProgram\0")?,
            log_size: *library.get(b"nvrtcGetProgramLogSize\0")?,
            log: *library.get(b"nvrtcGetProgramLog\0")?,
            size: *library.get(b"nvrtcGetPTXSize\0")?,
            text: *library.get(b"nvrtcGetPTX\0")?,
            destroy: *library.get(b"nvrtcDestroyProgram\0")?,
            _library: library,
        })
    }
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

impl Compiler {
    /// Compiles.
    ///
    /// # Errors
    /// With the compiler's messages.
    #[allow(unsafe_code, reason = "calls into a library in C")]
    pub fn ptx(&self, program: &Program) -> Result<String, CudaError> {
        let failed = |what: &str| CudaError::NotCompiled(format!("compiling {}: {what}", program.name));
        let (source, file) = (c_text(program.source), c_text(program.file));
        let names: Vec<CString> = program.headers.iter().map(|(name, _)| c_text(name)).collect();
        let texts: Vec<CString> = program.headers.iter().map(|(_, text)| c_text(text)).collect();
        let defines = program.defines.iter().map(|(name, value)| format!("-D{name}={value}"));
        let options: Vec<CString> = [program.architecture()]
            .iter()
            .chain(&OPTIONS)
            .map(ToString::to_string)
            .chain(defines)
            .map(|o| c_text(&o))
            .collect();
        let pointers = |all: &[CString]| all.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (names, texts, options) = (pointers(&names), pointers(&texts), pointers(&options));
        let count = |all: &[*const c_char]| c_int::try_from(all.len()).unwrap_or(c_int::MAX);
        debug_assert!(names.len() == texts.len(), "{} headers", names.len());
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: all texts end in zero and live to the end of this function; lists are as long as their counts say.
        let made = unsafe {
            (self.create)(
                &raw mut handle,
                source.as_ptr(),
                file.as_ptr(),
                count(&names),
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        if made != 0 {
            return Err(failed(&format!("NVRTC takes no program, error {made}")));
        }
        // SAFETY: the program was made above and is destroyed once, below; `read` gives room of the size that NVRTC says.
        unsafe {
            let done = (self.compile)(handle, count(&options), options.as_ptr());
            let result = if done == 0 {
                read(handle, self.size, self.text).ok_or_else(|| failed("NVRTC gives no PTX"))
            } else {
                let log = read(handle, self.log_size, self.log).unwrap_or_default();
                Err(failed(&format!("error {done}, {}", log.trim())))
            };
            (self.destroy)(&raw mut handle);
            result.map(|text| plain(&text))
        }
    }
}

/// A text of a program: its size, then itself.
///
/// # Safety
/// The handle must be a program's, and both functions must belong together.
#[allow(unsafe_code, reason = "calls into a library in C")]
unsafe fn read(
    handle: Handle,
    size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    text: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
) -> Option<String> {
    let mut bytes = 0;
    // SAFETY: the caller's; the buffer is of the size that NVRTC said, its terminating zero included.
    unsafe {
        if size(handle, &raw mut bytes) != 0 || bytes == 0 {
            return None;
        }
        let mut room = vec![0_u8; bytes];
        if text(handle, room.as_mut_ptr().cast()) != 0 {
            return None;
        }
        let text = CStr::from_bytes_until_nul(&room).ok()?;
        Some(text.to_string_lossy().into_owned())
    }
}

/// As `kernels/build` leaves it: without the compiler's build and what it says about inline assembly, and marked as what drivers from CUDA 12.3 on read.
fn plain(text: &str) -> String {
    let says_nothing =
        |line: &str| line.starts_with("//") || matches!(line.trim_start(), "// begin inline asm" | "// end inline asm");
    let lines = text.lines().filter(|line| !says_nothing(line));
    let lines = lines.map(|line| {
        if line.starts_with(".version ") {
            PTX_VERSION
        } else {
            line
        }
    });
    let mut text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    text.push('\n');
    text
}
