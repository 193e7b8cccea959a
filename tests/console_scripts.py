"""Lines of a console script that are wrong, and what is said of each; the simulated and the functional UART read the same script."""

EXPECTED = "expected 'wait \"TEXT\"', 'send \"TEXT\"', TEXT of 1 to 255 characters, or 'after TIME', such as 'after 10 ms'"
WRONG_LINES = [
    *[(line, EXPECTED) for line in ("type x", "after soon", "after 5", "send", "wait ", 'wait ""', 'send "x', r'send "x\"', 'send "x" y')],
    (f'send "{256 * "x"}"', EXPECTED),
    ("wait # ", 'the text of "wait # " has no quotes (write: wait "# ")'),
    (r"send ls\n", r'the text of "send ls\n" has no quotes (write: send "ls\n")'),
]
