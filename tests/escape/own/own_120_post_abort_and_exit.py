# kind=dos; source: post-exploitation: the process ends itself without a word
import os
os._exit(0)
