/* Ways in which a program starts another one, for a container that lets it, and for one that does not.
 *
 * `ways free` tries each in a child of its own; `ways held` all of them in one process, which none of them may leave or double, but
 * for those that end it: `ways one N` tries one.
 * Whoever was started says SPAWNED. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char self[] = "/ways", script[] = "/script", child[] = "child";
static char *words[] = {self, child, 0};
static char stack[1 << 16] __attribute__((aligned(16)));
static int way;

/* One write, so that those who run at once do not mix their lines. */
static void say(void) { char line[16]; write(1, line, sprintf(line, "SPAWNED %d\n", way)); }
static void both(long pid) { if (pid == 0) { say(); _exit(0); } if (pid > 0) waitpid(pid, 0, 0); }
static int in_child(void *_) { say(); _exit(0); }
static void *forks(void *_) { both(fork()); return 0; }
static void *starts(void *_) { execve(self, words, environ); return 0; }
static void *is(void *_) { write(1, "thread\n", 7); return 0; }
static void thread(void *(*run)(void *)) { pthread_t t; if (!pthread_create(&t, 0, run, 0)) pthread_join(t, 0); }
static long by_32_bits(long number, long a, long b, long c) {
    long result = -38;
#ifdef __x86_64__
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
#endif
    return result;
}
static void copied(void) {
    int from = open(self, O_RDONLY), to = memfd_create("ways", 0);
    char bytes[4096]; ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0) write(to, bytes, n);
    syscall(SYS_execveat, to, "", words, environ, AT_EMPTY_PATH);
}

/* The words for 32 bits lie where 32 bits reach. */
static unsigned words32[4];
static char fourteen[] = "14";

static void attempt(void) {
    pid_t pid; FILE *pipe; unsigned long args[11] = {0};
    switch (way) {
    case 1: both(fork()); break;
    case 2: if ((pid = vfork()) == 0) { say(); _exit(0); } break;
    case 3: both(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); break;
    case 4: both(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); break;
    case 5: if (!posix_spawn(&pid, self, 0, 0, words, environ)) waitpid(pid, 0, 0); break;
    case 6: if (!posix_spawnp(&pid, self, 0, 0, words, environ)) waitpid(pid, 0, 0); break;
    case 7: system("/ways child"); break;
    case 8: if ((pipe = popen("/ways child", "w"))) pclose(pipe); break;
    case 9: execve(self, words, environ); break;
    case 10: syscall(SYS_execveat, AT_FDCWD, self, words, environ, 0); break;
    case 11: syscall(SYS_execveat, open(self, O_PATH), "", words, environ, AT_EMPTY_PATH); break;
    case 12: copied(); break;
    case 13: both(by_32_bits(2, 0, 0, 0)); break;
    case 14: by_32_bits(11, (long)self, (long)words32, 0); break;
    case 15: execve("/proc/self/exe", words, environ); break;
    case 16: execve(script, words, environ); break;
    case 17: syscall(SYS_execve, self, words, environ, -1L, -1L, -1L); break;
    case 18: pid = clone(in_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, 0); break;
    case 19: thread(forks); break;
    case 20: thread(starts); break;
    /* Not to be had everywhere, even where everything is free. */
    case 21: args[4] = SIGCHLD; both(syscall(435, args, sizeof args)); break;
    case 22: both(syscall(0x40000000 | SYS_fork)); break;
    case 23: syscall(0x40000000 | 520, self, words, environ); break;
    case 24: syscall(SYS_unshare, CLONE_NEWPID); both(fork()); break;
    case 25: execve("/.stockade-launcher", (char *[]){"x", "1", self, self, child, 0}, environ); break;
    }
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    if (!strcmp(how, "child")) { char *n = getenv("WAY"); way = n ? atoi(n) : count > 2 ? atoi(arguments[2]) : 0; say(); return 0; }
    words32[0] = (unsigned)(long)self; words32[1] = (unsigned)(long)child; words32[2] = (unsigned)(long)fourteen;
    thread(is);
    for (way = 1; way <= 25; way++) {
        char n[4]; sprintf(n, "%d", way); setenv("WAY", n, 1);
        int ends = way == 13 || way == 14;
        if (!strcmp(how, "held")) { if (!ends) attempt(); continue; }
        if (!strcmp(how, "one")) { if (way == atoi(arguments[2])) attempt(); continue; }
        pid_t pid = fork();
        if (pid == 0) { attempt(); _exit(0); }
        waitpid(pid, 0, 0);
        while (waitpid(-1, 0, WNOHANG) > 0);
    }
    printf("tried %d\n", way - 1);
    return 0;
}
