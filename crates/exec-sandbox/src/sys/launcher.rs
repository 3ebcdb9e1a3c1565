//! The machine code of the launcher in containers. It is data to this program, and never executed in it.

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .rodata.stockade_launcher,\"a\",@progbits",
    ".balign 8",
    ".globl stockade_launcher_begin",
    ".hidden stockade_launcher_begin",
    "stockade_launcher_begin:",
    "    mov r15, rsp",
    // prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    "    mov edi, 38",
    "    mov esi, 1",
    "    xor edx, edx",
    "    xor r10d, r10d",
    "    xor r8d, r8d",
    "    mov eax, 157",
    "    syscall",
    "    test eax, eax",
    "    jnz 9f",
    // getrandom: three words on the stack
    "    sub rsp, 64",
    "    mov rdi, rsp",
    "    mov esi, 24",
    "    xor edx, edx",
    "    mov eax, 318",
    "    syscall",
    "    cmp rax, 24",
    "    jne 9f",
    // each half of a word goes to its place in the filter
    "    lea rbx, [rip + 8f]",
    "    xor ecx, ecx",
    "2:  mov edx, dword ptr [rbx + 8 + rcx*4]",
    "    mov esi, dword ptr [rsp + rcx*4]",
    "    mov dword ptr [rbx + 32 + rdx], esi",
    "    inc ecx",
    "    cmp ecx, 6",
    "    jb 2b",
    // seccomp(SECCOMP_SET_MODE_FILTER, 0, {length, filter})
    "    mov rax, qword ptr [rbx]",
    "    mov qword ptr [rsp + 24], rax",
    "    lea rax, [rbx + 32]",
    "    mov qword ptr [rsp + 32], rax",
    "    mov edi, 1",
    "    xor esi, esi",
    "    lea rdx, [rsp + 24]",
    "    mov eax, 317",
    "    syscall",
    "    test eax, eax",
    "    jnz 9f",
    // the first argument says how many programs there are to try; behind them is the command
    "    mov rax, qword ptr [r15 + 16]",
    "    movzx r13d, byte ptr [rax]",
    "    sub r13d, 48",
    "    lea r14, [r15 + 24]",
    "    lea rbp, [r14 + r13*8]",
    "    mov rax, qword ptr [r15]",
    "    lea r12, [r15 + rax*8 + 16]",
    "    mov dword ptr [rsp + 40], 127",
    "3:  test r13d, r13d",
    "    jz 5f",
    // execve, with the three words in the arguments that it has no use for
    "    mov rdi, qword ptr [r14]",
    "    mov rsi, rbp",
    "    mov rdx, r12",
    "    mov r10, qword ptr [rsp]",
    "    mov r8, qword ptr [rsp + 8]",
    "    mov r9, qword ptr [rsp + 16]",
    "    mov eax, 59",
    "    syscall",
    // it is not there (ENOENT, ENOTDIR), or cannot be run
    "    cmp eax, -2",
    "    je 4f",
    "    cmp eax, -20",
    "    je 4f",
    "    mov dword ptr [rsp + 40], 126",
    "4:  add r14, 8",
    "    dec r13d",
    "    jmp 3b",
    "5:  mov edi, dword ptr [rsp + 40]",
    "    jmp 6f",
    "9:  mov edi, 125",
    "6:  mov eax, 231",
    "    syscall",
    "    hlt",
    ".balign 8",
    "8:",
    ".globl stockade_launcher_end",
    ".hidden stockade_launcher_end",
    "stockade_launcher_end:",
    ".popsection",
);

/// Returns the code, if this architecture is supported.
#[cfg(target_arch = "x86_64")]
pub(crate) fn code() -> Option<&'static [u8]> {
    unsafe extern "C" {
        static stockade_launcher_begin: u8;
        static stockade_launcher_end: u8;
    }
    let (begin, end) = (&raw const stockade_launcher_begin, &raw const stockade_launcher_end);
    // SAFETY: both symbols are defined above in this order, in one read-only section.
    Some(unsafe { std::slice::from_raw_parts(begin, end as usize - begin as usize) })
}

/// As above.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const fn code() -> Option<&'static [u8]> {
    None
}
