// Programs of the guest without a C library: the kernel's system calls, a few functions on text, and where a program
// begins. It defines begin(), which has the words that the kernel leaves on the stack: argc, argv[0], argv[1], ...
#ifndef LINUX_SYSTEM_CALL_H
#define LINUX_SYSTEM_CALL_H

enum { EXIT = 4001, READ = 4003, WRITE = 4004, BIND = 4169, CONNECT = 4170, SOCKET = 4183, FAILED = -1 };

void begin(char **stack);

static inline long call(long number, long first, const void *second, long third) {
  register long v0 __asm__("$2") = number, a0 __asm__("$4") = first, a2 __asm__("$6") = third, a3 __asm__("$7");
  register const void *a1 __asm__("$5") = second;
  __asm__ volatile("syscall"
                   : "+r"(v0), "=r"(a3)
                   : "r"(a0), "r"(a1), "r"(a2)
                   : "memory", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25");
  return a3 ? FAILED : v0;
}

static inline void say(const char *text) {
  long length = 0;
  while (text[length]) length++;
  call(WRITE, 2, text, length);
}

static inline int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

static inline long number(const char *text) {
  long value = 0;
  for (; text && *text >= '0' && *text <= '9'; text++) value = 10 * value + *text - '0';
  return value;
}

__asm__(".globl __start\n"
        "__start:\n"
        "  move $a0, $sp\n"
        "  addiu $sp, $sp, -32\n"
        "  j begin\n"
        "  nop\n");

#endif
