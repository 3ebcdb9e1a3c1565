/* What a package in a container tries that it must not be able to do, each by the number of its row.
 *
 * `/probe N…` tries one after another and prints `N held`, or `N open` and why. `port=`, `abstract=`, `runner=` and `home=` come as words
 * before. What ends the program is tried alone. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int port, runner;
static const char *abstract = "", *home = "", *why = "";
static char said[256];

/* Held where it fails, by one of these errors where there are any. */
static int fails(long result, int one, int other) {
    int error = errno;
    snprintf(said, sizeof said, "result %ld, errno %d (%s)", result, error, strerror(error));
    why = said;
    return result == -1 && (!one || error == one || (other && error == other));
}
static int closed(long result) { return fails(result, EPERM, ENOSYS); }
/* No process has it: whoever lets the call through says so, and whoever closes it does not look. */
#define NOBODY 0x3fffffff
static int refused_open(const char *path, int flags) {
    int file = open(path, flags, 0600);
    if (file < 0) return 1;
    char byte; int empty = (flags & O_ACCMODE) == O_RDONLY && read(file, &byte, 1) <= 0;
    close(file); why = path; return empty;
}
static int baited(const char *name) {
    static char path[512];
    if (home[0] != '/') { why = "no home was named"; return 0; }
    snprintf(path, sizeof path, "%s/%s", home, name); return refused_open(path, O_RDONLY);
}
static int writes(const char *path) { return refused_open(path, O_WRONLY | O_CREAT); }

/* Held where nothing is reached, for this reason where one is named. */
static int reaches(int family, int type, int protocol, const void *to, socklen_t length, int reason) {
    int s = socket(family, type | SOCK_NONBLOCK, protocol);
    if (s < 0) return fails(s, reason, 0);
    int result = connect(s, to, length);
    if (result < 0 && errno == EINPROGRESS) {
        struct pollfd wait = {s, POLLOUT, 0};
        int error = ETIMEDOUT; socklen_t size = sizeof error;
        if (poll(&wait, 1, 3000) > 0) getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size);
        errno = error; result = error ? -1 : 0;
    }
    int held = fails(result, reason, 0); close(s); return held;
}
static int tcp(const char *address, int number, int reason) {
    struct sockaddr_in to = {AF_INET, htons(number), {inet_addr(address)}, {0}};
    return reaches(AF_INET, SOCK_STREAM, 0, &to, sizeof to, reason);
}
static int sends(const char *address, int number, int type, int protocol) {
    struct sockaddr_in to = {AF_INET, htons(number), {inet_addr(address)}, {0}};
    int s = socket(AF_INET, type, protocol);
    /* Who may ping is bounded by groups. */
    if (s < 0) return fails(s, protocol == IPPROTO_ICMP ? EACCES : ENETUNREACH, 0);
    unsigned char echo[8] = {8, 0, 0xf7, 0xff};
    int held = fails(sendto(s, echo, sizeof echo, 0, (void *)&to, sizeof to), ENETUNREACH, 0); close(s); return held;
}
/* A question to whoever is named as a resolver, which nobody answers. */
static int resolves(void) {
    static const unsigned char question[] = {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 3, 'c', 'o', 'm', 0, 0, 1, 0, 1};
    FILE *list = fopen("/etc/resolv.conf", "r"); char line[200] = "", name[200] = "8.8.8.8"; int held = 1;
    do {
        if (line[0] && sscanf(line, "nameserver %199s", name) != 1) continue;
        struct sockaddr_in to = {AF_INET, htons(53), {inet_addr(name)}, {0}}; struct pollfd wait = {socket(AF_INET, SOCK_DGRAM, 0), POLLIN, 0};
        unsigned char answer[512];
        sendto(wait.fd, question, sizeof question, 0, (void *)&to, sizeof to);
        if (poll(&wait, 1, 500) > 0 && recv(wait.fd, answer, sizeof answer, 0) > 0) { held = 0; why = "there was an answer"; }
        close(wait.fd);
    } while (list && fgets(line, sizeof line, list));
    if (list) fclose(list);
    return held;
}
static int by_name(const char *name, int is_abstract) {
    struct sockaddr_un to = {AF_UNIX, {0}};
    strncpy(to.sun_path + is_abstract, name, sizeof to.sun_path - 2);
    return reaches(AF_UNIX, SOCK_STREAM, 0, &to, offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name) + !is_abstract, 0);
}
static int sockets(void) {
    static const char *names[] = {"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
        "/tmp/.X11-unix/X0", "/run/dbus/system_bus_socket", "/run/user/0/bus", "/run/user/1000/bus", "/run/user/1000/gnupg/S.gpg-agent",
        "/run/user/1000/keyring/ssh", 0};
    for (int i = 0; names[i]; i++) if (!by_name(names[i], 0)) { why = names[i]; return 0; }
    return 1;
}
static int inherited(void) {
    struct stat kind;
    for (int fd = 3; fd < 1024; fd++) if (!fstat(fd, &kind) && S_ISSOCK(kind.st_mode)) { why = "a socket is open"; return 0; }
    return 1;
}
static int by_api(void) {
    const char *url = getenv("ISCL_API_URL"); char answer[8] = {0};
    if (!url || strncmp(url, "unix://", 7)) { why = "no URL"; return 0; }
    struct sockaddr_un to = {AF_UNIX, {0}}; strncpy(to.sun_path, url + 7, sizeof to.sun_path - 1);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(s, (void *)&to, sizeof to) || write(s, "ask\n", 4) != 4 || read(s, answer, 7) <= 0) { why = strerror(errno); return 0; }
    close(s); why = answer; return !strncmp(answer, "told", 4) && tcp("192.0.2.1", 80, ENETUNREACH);
}
static void *nothing(void *counted) { __atomic_add_fetch((int *)counted, 1, __ATOMIC_SEQ_CST); return 0; }
static int threads(void) {
    pthread_t all[8]; int ran = 0;
    for (int i = 0; i < 8; i++) if (pthread_create(&all[i], 0, nothing, &ran)) { why = "no thread"; return 0; }
    for (int i = 0; i < 8; i++) pthread_join(all[i], 0);
    return ran == 8;
}
static int copy(const char *from, const char *to, int mode) {
    char bytes[4096]; ssize_t n; int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode);
    while ((n = read(in, bytes, sizeof bytes)) > 0) if (write(out, bytes, n) != n) return 0;
    close(in); return out >= 0 && !fchmod(out, mode) && !close(out);
}
/* Where programs would lie that it made itself, if it could. */
static const char *places[] = {"/tmp/probe", "/var/tmp/probe", "/run/probe", "/dev/probe", "/dev/shm/probe", "/probe-copy", 0};
static int starts_copy(void) {
    int made = 0;
    for (int i = 0; places[i]; i++) {
        char *words[] = {(char *)places[i], 0};
        if (!copy("/probe", places[i], 0755)) continue;
        made++; int held = fails(execve(words[0], words, environ), EACCES, 0); unlink(words[0]);
        if (!held) { why = places[i]; return 0; }
    }
    why = "no copy"; return made > 0;
}
static int maps_copy(void) {
    int made = 0;
    for (int i = 0; places[i]; i++) {
        if (!copy("/probe", places[i], 0755)) continue;
        int file = open(places[i], O_RDONLY);
        void *mapped = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
        made++; int held = fails(mapped == MAP_FAILED ? -1 : 0, EPERM, EACCES); close(file); unlink(places[i]);
        if (!held) { why = places[i]; return 0; }
    }
    why = "no copy"; return made > 0;
}
static int fills(void) {
    static char block[1 << 20]; int file = open("/tmp/big", O_WRONLY | O_CREAT, 0600); long written = 0, n;
    while (written < 70L << 20 && (n = write(file, block, sizeof block)) > 0) written += n;
    int error = errno; close(file); unlink("/tmp/big");
    snprintf(said, sizeof said, "%ld bytes, errno %d", written, error); why = said;
    return error == ENOSPC && written == 64L << 20;
}
static int names(void) {
    char name[64]; int i, file;
    for (i = 0; i < 1000000; i++) { snprintf(name, sizeof name, "/tmp/n%d", i); if ((file = open(name, O_WRONLY | O_CREAT, 0600)) < 0) break; close(file); }
    int error = errno; snprintf(said, sizeof said, "%d files, errno %d", i, error); why = said;
    for (int j = 0; j < i; j++) { snprintf(name, sizeof name, "/tmp/n%d", j); unlink(name); }
    return i < 1000000 && error == ENOSPC;
}
static int devices(void) {
    struct statfs at; if (statfs("/tmp", &at)) return 0;
    snprintf(said, sizeof said, "flags %lx", (long)at.f_flags); why = said;
    return fails(mknod("/tmp/d", S_IFCHR | 0666, 0x103), EPERM, 0) && (at.f_flags & 2) && (at.f_flags & 4);
}
static int opens(void) {
    int i; for (i = 0; i < 100000; i++) if (open("/dev/null", O_RDONLY) < 0) break;
    int error = errno; for (int fd = 3; fd < i + 3; fd++) close(fd);
    snprintf(said, sizeof said, "%d files, errno %d", i, error); why = said; return i < 1024 && error == EMFILE;
}
static int bombs(void) {
    int count = 0; pid_t pid, all[1000];
    while (count < 1000 && (pid = fork()) >= 0) { if (!pid) { pause(); _exit(0); } all[count++] = pid; }
    int error = errno; for (int i = 0; i < count; i++) kill(all[i], SIGKILL); while (wait(0) > 0);
    snprintf(said, sizeof said, "%d processes, errno %d", count, error); why = said; return count > 0 && count < 64 && error == EAGAIN;
}
static int pushes(unsigned long request) {
    int master = posix_openpt(O_RDWR | O_NOCTTY); char byte = 'x';
    if (master < 0 || unlockpt(master)) return 1;
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    int held = slave < 0 || fails(ioctl(slave, request, &byte), 0, 0);
    close(slave); close(master); return held;
}
static int memory_of_others(void) {
    char byte = 0; struct iovec here = {&byte, 1}, there = {&byte, 1};
    return closed(process_vm_writev(NOBODY, &here, 1, &there, 1, 0));
}
static int capabilities(void) {
    FILE *status = fopen("/proc/self/status", "r"); char line[200]; int seen = 0;
    while (status && fgets(line, sizeof line, status)) if (!strncmp(line, "Cap", 3)) {
        seen++; if (strtoull(strchr(line, ':') + 1, 0, 16)) { snprintf(said, sizeof said, "%s", line); said[strcspn(said, "\n")] = 0; why = said; return 0; }
    }
    return seen == 5;
}
/* No name but those of the package, and no value of this machine. */
static int told(const char *entry) {
    static const char *names[] = {"PATH=", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8", "ISCL_API_URL=", "ISCL_SKILL_NAME=", "HOSTNAME=stockade", "container=podman", "TERM=xterm", 0};
    for (int i = 0; names[i]; i++) if (!strncmp(entry, names[i], strlen(names[i]))) return 1;
    size_t length = strlen(entry); return length > 6 && !strcmp(entry + length - 1, "=") && strcasestr(entry, "_proxy=");
}
static int environment(const char *path) {
    static char text[1 << 16]; int file = open(path, O_RDONLY); if (file < 0) return 1;
    ssize_t length = read(file, text, sizeof text - 1);
    for (char *entry = text; entry < text + length; entry += strlen(entry) + 1) if (!told(entry)) { why = entry; return 0; }
    return 1;
}
static int is_root(void) { snprintf(said, sizeof said, "user %d", geteuid()); why = said; return geteuid() != 0 && getuid() != 0; }
static int as_root(void) {
    struct stat file; if (stat("/rooted", &file) || file.st_uid || !(file.st_mode & S_ISUID)) { why = "it is not set up"; return 0; }
    pid_t pid = fork(); int status = -1; char *words[] = {"/rooted", "70", 0};
    if (!pid) { int null = open("/dev/null", O_WRONLY); dup2(null, 1); execve(words[0], words, environ); _exit(9); }
    waitpid(pid, &status, 0); snprintf(said, sizeof said, "status %d", status); why = said; return status == 0;
}
static int through_loader(void) {
    char *words[] = {"/lib64/ld-linux-x86-64.so.2", "/bin/cat", 0};
    if (access(words[0], X_OK)) { why = "there is no loader"; return 0; }
    return fails(execve(words[0], words, environ), EPERM, 0);
}
static int stays_closed(void) {
    struct { const char *name; long result; int error; } all[] = {
#define CALL(number, ...) {#number, (errno = 0, syscall(number, ##__VA_ARGS__)), errno}
        CALL(SYS_keyctl, 0, -3, 0), CALL(SYS_add_key, "user", "x", "y", 1, -3), CALL(SYS_bpf, 0, 0, 0), CALL(SYS_unshare, 0x10000000),
        CALL(SYS_setns, 0, 0), CALL(SYS_open_by_handle_at, -1, 0, 0), CALL(SYS_perf_event_open, 0, 0, -1, -1, 0), CALL(SYS_userfaultfd, 0)};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].result != -1 || (all[i].error != EPERM && all[i].error != ENOSYS)) {
            snprintf(said, sizeof said, "%s: %ld, errno %d", all[i].name, all[i].result, all[i].error); why = said; return 0;
        }
    return 1;
}
static int other_numbers(void) {
    long result = -1;
#ifdef __x86_64__
    /* ptrace(PTRACE_TRACEME) by the numbers of 32 bits. */
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(26L), "b"(0L), "c"(0L), "d"(0L), "S"(0L) : "memory", "r8", "r9", "r10", "r11");
#endif
    why = "it came back"; return result < 0;
}

static int attempt(int row) {
    char text[64]; char *words[] = {"/bin/cat", "/dev/null", 0}; pid_t pid;
    switch (row) {
    case 2: case 71: return tcp("1.1.1.1", 80, ENETUNREACH);
    case 3: return fails(open("/test-write", O_WRONLY | O_CREAT, 0600), EROFS, EACCES);
    case 13: pid = syscall(SYS_fork); if (!pid) _exit(0); return fails(pid, EPERM, 0);
    case 14: pid = vfork(); if (!pid) _exit(0); return fails(pid, EPERM, 0);
    case 16: { unsigned long args[11] = {0}; args[4] = SIGCHLD; pid = syscall(435, args, sizeof args); if (!pid) _exit(0); return fails(pid, ENOSYS, 0); }
    case 18: return fails(execve(words[0], words, environ), EPERM, 0);
    case 21: return fails(syscall(0x40000000 | 520, words[0], words, environ), ENOSYS, 0);
    case 22: return threads();
    case 26: return through_loader();
    case 27: return maps_copy();
    case 28: return bombs();
    case 29: return stays_closed();
    case 30: return closed(syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
    case 31: return closed(syscall(SYS_umount2, "/tmp", 0));
    case 32: return closed(syscall(SYS_pivot_root, "/tmp", "/tmp"));
    case 33: return closed(syscall(SYS_chroot, "/tmp"));
    case 35: return closed(syscall(432, -1, 0, 0));
    case 36: return closed(syscall(429, -1, "", -1, "", 0));
    case 37: return closed(syscall(428, AT_FDCWD, "/tmp", 1));
    case 38: return closed(syscall(442, AT_FDCWD, "/tmp", 0, said, 32));
    case 39: return closed(ptrace(PTRACE_ATTACH, NOBODY, 0, 0));
    case 41: return memory_of_others();
    case 42: return closed(syscall(SYS_kexec_load, 0, 0, 0, 0));
    case 43: return closed(syscall(SYS_kexec_file_load, -1, -1, 0, "", 0));
    case 44: return closed(syscall(SYS_init_module, "", 0, ""));
    case 45: return closed(syscall(SYS_finit_module, -1, "", 0));
    case 47: return closed(syscall(SYS_swapon, "/tmp/x", 0));
    case 48: { struct { long s, u; } now = {1, 0}; return closed(syscall(SYS_settimeofday, &now, 0)); }
    case 49: { struct { long s, n; } now = {1, 0}; return closed(syscall(SYS_clock_settime, 0, &now)); }
    case 50: return closed(syscall(SYS_acct, "/tmp/acct"));
    case 51: return closed(syscall(SYS_quotactl, 0x80000100, "/dev/null", 0, 0));
    case 52: return closed(syscall(SYS_bpf, 0, said, 64));
    case 53: return closed(syscall(SYS_perf_event_open, said, 0, -1, -1, 0));
    case 58: return closed(syscall(SYS_request_key, "user", "x", 0, -3));
    case 60: return closed(syscall(SYS_unshare, 0x10000000));
    case 61: return closed(syscall(SYS_open_by_handle_at, AT_FDCWD, said, 0));
    case 62: return closed(syscall(SYS_syslog, 3, said, sizeof said));
    case 65: return pushes(TIOCSTI);
    case 66: return pushes(TIOCLINUX);
    case 67: return other_numbers();
    case 68: return as_root();
    case 69: return capabilities();
    case 70: return is_root();
    case 73: return sends("8.8.8.8", 53, SOCK_DGRAM, 0);
    case 74: return resolves();
    case 75: return sends("1.1.1.1", 0, SOCK_DGRAM, IPPROTO_ICMP);
    case 76: return fails(socket(17, SOCK_RAW, 0), 0, 0);
    case 78: { struct { unsigned short family, zero; unsigned port, cid, more; } to = {40, 0, 22, 2, 0}; return reaches(40, SOCK_STREAM, 0, &to, sizeof to, 0); }
    case 80: return tcp("127.0.0.1", port, ECONNREFUSED);
    case 81: return tcp("169.254.169.254", 80, ENETUNREACH);
    case 83: return by_name(abstract, 1);
    case 84: return sockets();
    case 85: return inherited();
    case 86: return by_api();
    case 89: return starts_copy();
    case 90: return fills();
    case 91: return names();
    case 92: return devices();
    case 93: return writes("/x") && writes("/run/x") && writes("/var/tmp/x");
    case 94: return writes("/etc/x");
    case 96: return refused_open("/proc/sys/kernel/core_pattern", O_WRONLY);
    case 98: return writes("/dev/x");
    case 99: return writes("/dev/shm/x");
    case 100: return baited(".ssh/id_ed25519");
    case 102: return baited(".iscl/keystore/key.json");
    /* Where nothing else may be started, the first process is the package itself. */
    case 104: return environment("/proc/1/environ");
    case 105: snprintf(text, sizeof text, "/proc/%d/environ", runner); return refused_open(text, O_RDONLY);
    case 106: return refused_open("/proc/kcore", O_RDONLY);
    case 113: case 114: return environment("/proc/self/environ");
    case 123: return fills();
    case 124: return opens();
    case 129: { char byte; return read(0, &byte, 1) == 0; }
    }
    why = "there is no such row"; return 0;
}

int main(int count, char **arguments) {
    setvbuf(stdout, 0, _IONBF, 0);
    for (int i = 1; i < count; i++) {
        const char *word = arguments[i];
        if (!strncmp(word, "port=", 5)) port = atoi(word + 5);
        else if (!strncmp(word, "runner=", 7)) runner = atoi(word + 7);
        else if (!strncmp(word, "abstract=", 9)) abstract = word + 9;
        else if (!strncmp(word, "home=", 5)) home = word + 5;
        else if (!strcmp(word, "marker")) printf("started\n");
        else if (!strcmp(word, "memory")) { size_t size = atol(arguments[++i]) << 20; memset(malloc(size), 1, size); printf("has it\n"); }
        else if (!strcmp(word, "segv")) { volatile int *volatile nowhere = 0; *nowhere = 1; }
        else if (!strcmp(word, "bytes")) fwrite("\xff\0\x1b[2J\n", 1, 7, stdout);
        else { why = ""; errno = 0; int held = attempt(atoi(word)); if (held) printf("%s held\n", word); else printf("%s open: %s\n", word, why); if (geteuid() == 0) return 7; }
    }
    return 0;
}
