# kind=dos; source: output without end, piece by piece, by every stream there is
import logging, sys, warnings
warnings.simplefilter("always")
while True:
    print(end="")
    print("\ud800", flush=True)
    sys.stderr.write("x\0\x1b[2J\n")
    sys.stdout.write("")
    warnings.warn("again")
    logging.error("again")
