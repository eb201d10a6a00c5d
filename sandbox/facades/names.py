"""Which modules can be imported, and the names that each one shows: data, which loads nothing."""

from __future__ import annotations

import ast
import collections.abc
import math

AST_NODES = " ".join(
    name
    for name, value in vars(ast).items()
    if isinstance(value, type) and issubclass(value, ast.AST) and name[0] != "_"
)

PUBLIC: dict[str, str] = {
    "__future__": "absolute_import annotations division generator_stop generators nested_scopes "
    "print_function unicode_literals with_statement",
    "abc": "ABC ABCMeta abstractclassmethod abstractmethod abstractproperty abstractstaticmethod "
    "get_cache_token",
    "array": "ArrayType array typecodes",
    "ast": "parse walk dump unparse literal_eval get_docstring get_source_segment iter_fields "
    "iter_child_nodes copy_location fix_missing_locations increment_lineno NodeVisitor "
    "NodeTransformer " + AST_NODES,
    "asyncio": "ALL_COMPLETED AbstractEventLoop Barrier BoundedSemaphore BrokenBarrierError "
    "CancelledError Condition Event FIRST_COMPLETED FIRST_EXCEPTION Future Handle "
    "InvalidStateError LifoQueue Lock PriorityQueue Queue QueueEmpty QueueFull QueueShutDown "
    "Runner Semaphore Task TaskGroup Timeout TimeoutError TimerHandle all_tasks as_completed "
    "create_eager_task_factory create_task current_task eager_task_factory ensure_future gather "
    "get_event_loop get_running_loop iscoroutine iscoroutinefunction isfuture new_event_loop run "
    "set_event_loop shield sleep timeout timeout_at to_thread wait wait_for",
    "base64": "a85decode a85encode b16decode b16encode b32decode b32encode b32hexdecode "
    "b32hexencode b64decode b64encode b85decode b85encode decode decodebytes encode encodebytes "
    "standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode z85decode z85encode",
    "binascii": "Error Incomplete a2b_base64 a2b_hex a2b_qp a2b_uu b2a_base64 b2a_hex b2a_qp "
    "b2a_uu crc32 crc_hqx hexlify unhexlify",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "bz2": "BZ2Compressor BZ2Decompressor compress decompress",
    "calendar": "APRIL AUGUST Calendar DECEMBER Day EPOCH FEBRUARY FRIDAY HTMLCalendar "
    "IllegalMonthError IllegalWeekdayError JANUARY JULY JUNE MARCH MAY MONDAY Month NOVEMBER "
    "OCTOBER SATURDAY SEPTEMBER SUNDAY THURSDAY TUESDAY TextCalendar WEDNESDAY calendar day_abbr "
    "day_name firstweekday isleap leapdays month month_abbr month_name monthcalendar monthrange "
    "prcal prmonth prweek setfirstweekday timegm week weekday weekheader",
    "cmath": "acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf "
    "isnan log log10 nan nanj phase pi polar rect sin sinh sqrt tan tanh tau",
    "codecs": "BOM BOM_BE BOM_LE BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF32_BE "
    "BOM_UTF32_LE BOM_UTF8 decode encode getdecoder getencoder getincrementaldecoder "
    "getincrementalencoder iterdecode iterencode",
    "collections": "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque "
    "namedtuple",
    "collections.abc": " ".join(collections.abc.__all__),
    "colorsys": "hls_to_rgb hsv_to_rgb rgb_to_hls rgb_to_hsv rgb_to_yiq yiq_to_rgb",
    "contextlib": "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator "
    "AsyncExitStack ContextDecorator ExitStack aclosing asynccontextmanager closing "
    "contextmanager nullcontext redirect_stderr redirect_stdout suppress",
    "contextvars": "Context ContextVar Token copy_context",
    "copy": "Error copy deepcopy error replace",
    "csv": "Dialect DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE "
    "QUOTE_NONNUMERIC QUOTE_NOTNULL QUOTE_STRINGS Sniffer excel excel_tab field_size_limit "
    "get_dialect list_dialects reader register_dialect unix_dialect unregister_dialect writer",
    "dataclasses": "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field "
    "fields is_dataclass make_dataclass replace",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "decimal": "BasicContext Clamped Context ConversionSyntax Decimal DecimalException "
    "DecimalTuple DefaultContext DivisionByZero DivisionImpossible DivisionUndefined "
    "ExtendedContext FloatOperation HAVE_CONTEXTVAR HAVE_THREADS Inexact InvalidContext "
    "InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY Overflow ROUND_05UP ROUND_CEILING "
    "ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP Rounded "
    "Subnormal Underflow getcontext localcontext setcontext",
    "difflib": "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff "
    "diff_bytes get_close_matches ndiff restore unified_diff",
    "enum": "CONFORM CONTINUOUS EJECT Enum EnumCheck EnumMeta EnumType Flag FlagBoundary IntEnum "
    "IntFlag KEEP NAMED_FLAGS ReprEnum STRICT StrEnum UNIQUE auto member nonmember property "
    "show_flag_values unique verify",
    "errno": "EACCES EAGAIN EBADF EBUSY ECONNREFUSED ECONNRESET EDOM EEXIST EINTR EINVAL EIO "
    "EISDIR EMFILE ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY EPERM EPIPE ERANGE ETIMEDOUT",
    "fnmatch": "filter fnmatch fnmatchcase translate",
    "fractions": "Fraction",
    "functools": "WRAPPER_ASSIGNMENTS WRAPPER_UPDATES cache cached_property cmp_to_key lru_cache "
    "partial partialmethod reduce singledispatch singledispatchmethod total_ordering "
    "update_wrapper wraps",
    "graphlib": "CycleError TopologicalSorter",
    "gzip": "BadGzipFile compress decompress",
    "hashlib": "algorithms_available algorithms_guaranteed blake2b blake2s file_digest md5 new "
    "pbkdf2_hmac scrypt sha1 sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512 "
    "shake_128 shake_256",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "hmac": "HMAC compare_digest digest digest_size new",
    "html": "escape unescape",
    "html.entities": "codepoint2name entitydefs html5 name2codepoint",
    "html.parser": "HTMLParser",
    "http": "HTTPMethod HTTPStatus",
    "importlib": "import_module",
    "inspect": "BoundArguments GEN_CLOSED GEN_CREATED GEN_RUNNING GEN_SUSPENDED Parameter "
    "Signature cleandoc getcoroutinestate getdoc getgeneratorstate getmembers getsource "
    "isabstract isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine "
    "iscoroutinefunction isfunction isgenerator isgeneratorfunction ismethod ismodule isroutine "
    "signature",
    "io": "BlockingIOError BufferedIOBase BytesIO DEFAULT_BUFFER_SIZE IOBase RawIOBase SEEK_CUR "
    "SEEK_END SEEK_SET StringIO TextIOBase TextIOWrapper UnsupportedOperation",
    "ipaddress": "AddressValueError IPV4LENGTH IPV6LENGTH IPv4Address IPv4Interface IPv4Network "
    "IPv6Address IPv6Interface IPv6Network NetmaskValueError collapse_addresses get_mixed_type_key "
    "ip_address ip_interface ip_network summarize_address_range v4_int_to_packed v6_int_to_packed",
    "itertools": "accumulate chain combinations combinations_with_replacement compress count "
    "cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap "
    "takewhile tee zip_longest batched",
    "json": "JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads",
    "json.decoder": "JSONDecodeError JSONDecoder",
    "json.encoder": "JSONEncoder",
    "keyword": "iskeyword issoftkeyword kwlist softkwlist",
    "locale": "CHAR_MAX Error LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC "
    "LC_TIME atof atoi currency delocalize format_string getencoding getlocale "
    "getpreferredencoding localeconv localize normalize setlocale str strcoll strxfrm",
    "logging": "BASIC_FORMAT CRITICAL DEBUG ERROR FATAL Filter Filterer Formatter Handler INFO "
    "LogRecord Logger LoggerAdapter NOTSET NullHandler RootLogger StreamHandler WARN WARNING "
    "addLevelName basicConfig critical debug disable error exception fatal getLevelName "
    "getLevelNamesMapping getLogger info lastResort log makeLogRecord root shutdown warn warning",
    "lzma": "CHECK_CRC32 CHECK_CRC64 CHECK_ID_MAX CHECK_NONE CHECK_SHA256 CHECK_UNKNOWN "
    "FILTER_DELTA FILTER_LZMA1 FILTER_LZMA2 FORMAT_ALONE FORMAT_AUTO FORMAT_RAW FORMAT_XZ "
    "LZMACompressor LZMADecompressor LZMAError MODE_FAST MODE_NORMAL PRESET_DEFAULT PRESET_EXTREME "
    "compress decompress is_check_supported",
    "math": " ".join(name for name in vars(math) if name[0] != "_"),
    "numbers": "Complex Integral Number Rational Real",
    "operator": "abs add and_ attrgetter call concat contains countOf delitem eq floordiv ge "
    "getitem gt iadd iand iconcat ifloordiv ilshift imatmul imod imul index indexOf inv invert ior "
    "ipow irshift is_ is_not isub itemgetter itruediv ixor le length_hint lshift lt matmul "
    "methodcaller mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor",
    "os": "PathLike altsep curdir devnull environ extsep fspath getenv linesep name pardir "
    "pathsep sep urandom",
    "os.path": "altsep basename commonpath commonprefix curdir dirname extsep isabs join normcase "
    "normpath pardir pathsep relpath sep split splitdrive splitext splitroot",
    "pathlib": "Path PosixPath PurePath PurePosixPath PureWindowsPath",
    "pprint": "PrettyPrinter isreadable isrecursive pformat pp pprint saferepr",
    "queue": "Empty Full LifoQueue PriorityQueue Queue ShutDown SimpleQueue",
    "random": "Random SystemRandom betavariate binomialvariate choice choices expovariate "
    "gammavariate gauss getrandbits getstate lognormvariate normalvariate paretovariate randbytes "
    "randint random randrange sample seed setstate shuffle triangular uniform vonmisesvariate "
    "weibullvariate",
    "re": "A ASCII DEBUG DOTALL I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern "
    "PatternError RegexFlag S Scanner U UNICODE VERBOSE X compile error escape findall finditer "
    "fullmatch match purge search split sub subn",
    "reprlib": "Repr aRepr recursive_repr repr",
    "sched": "Event scheduler",
    "secrets": "DEFAULT_ENTROPY SystemRandom choice compare_digest randbelow randbits token_bytes "
    "token_hex token_urlsafe",
    "shlex": "join quote split",
    "statistics": "LinearRegression NormalDist StatisticsError correlation covariance fmean "
    "geometric_mean harmonic_mean kde kde_random linear_regression mean median median_grouped "
    "median_high median_low mode multimode pstdev pvariance quantiles stdev variance",
    "string": "Formatter Template ascii_letters ascii_lowercase ascii_uppercase capwords digits "
    "hexdigits octdigits printable punctuation whitespace",
    "struct": "Struct calcsize error iter_unpack pack pack_into unpack unpack_from",
    "sys": "argv byteorder copyright exc_info exception exit float_info float_repr_style "
    "get_int_max_str_digits getdefaultencoding getfilesystemencoding getrecursionlimit getrefcount "
    "getsizeof hash_info hexversion implementation int_info intern maxsize maxunicode platform "
    "set_int_max_str_digits setrecursionlimit stderr stdin stdlib_module_names stdout version "
    "version_info",
    "textwrap": "TextWrapper dedent fill indent shorten wrap",
    "time": "CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_THREAD_CPUTIME_ID "
    "altzone asctime clock_getres clock_gettime clock_gettime_ns ctime daylight get_clock_info "
    "gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns process_time "
    "process_time_ns sleep strftime strptime struct_time thread_time thread_time_ns time time_ns "
    "timezone tzname",
    "tomllib": "TOMLDecodeError load loads",
    "traceback": "extract_stack extract_tb format_exc format_exception format_exception_only "
    "format_list format_stack format_tb print_exc print_exception print_list print_stack print_tb",
    "types": "AsyncGeneratorType BuiltinFunctionType BuiltinMethodType ClassMethodDescriptorType "
    "CodeType CoroutineType EllipsisType FrameType FunctionType GeneratorType GenericAlias "
    "GetSetDescriptorType LambdaType MappingProxyType MemberDescriptorType MethodDescriptorType "
    "MethodType MethodWrapperType ModuleType NoneType NotImplementedType SimpleNamespace "
    "TracebackType UnionType WrapperDescriptorType coroutine",
    "typing": "AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable "
    "AsyncIterator Awaitable BinaryIO Callable ChainMap ClassVar Collection Concatenate "
    "Container ContextManager Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator "
    "Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal LiteralString Mapping "
    "MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType "
    "NoDefault NoReturn NotRequired Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs "
    "Pattern Protocol ReadOnly Required Reversible Self Sequence Set Sized SupportsAbs "
    "SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound "
    "TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeAliasType TypeGuard TypeIs TypeVar "
    "TypeVarTuple TypedDict Union Unpack ValuesView assert_never assert_type cast "
    "clear_overloads dataclass_transform final get_args get_origin get_overloads "
    "get_protocol_members get_type_hints is_protocol is_typeddict no_type_check overload "
    "override runtime_checkable",
    "unicodedata": "bidirectional category combining decimal decomposition digit east_asian_width "
    "is_normalized lookup mirrored name normalize numeric ucd_3_2_0 unidata_version",
    "urllib": "",
    "urllib.parse": "DefragResult DefragResultBytes ParseResult ParseResultBytes SplitResult "
    "SplitResultBytes parse_qs parse_qsl quote quote_from_bytes quote_plus splitattr splithost "
    "splitnport splitpasswd splitport splitquery splittag splittype splituser splitvalue to_bytes "
    "unquote unquote_plus unquote_to_bytes unwrap urldefrag urlencode urljoin urlparse urlsplit "
    "urlunparse urlunsplit",
    "uuid": "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 RESERVED_FUTURE "
    "RESERVED_MICROSOFT RESERVED_NCS RFC_4122 SafeUUID UUID getnode uuid1 uuid3 uuid4 uuid5",
    "warnings": "catch_warnings filterwarnings formatwarning resetwarnings showwarning "
    "simplefilter warn warn_explicit",
    "weakref": "ReferenceType WeakKeyDictionary WeakMethod "
    "WeakSet WeakValueDictionary finalize getweakrefcount ref",
    "xml": "",
    "xml.etree": "",
    "xml.etree.ElementTree": "Comment Element PI ParseError ProcessingInstruction QName SubElement "
    "XML XMLID dump fromstring fromstringlist indent iselement register_namespace tostring "
    "tostringlist",
    "zlib": "DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS ZLIB_RUNTIME_VERSION ZLIB_VERSION "
    "Z_BEST_COMPRESSION Z_BEST_SPEED Z_BLOCK Z_DEFAULT_COMPRESSION Z_DEFAULT_STRATEGY Z_FILTERED "
    "Z_FINISH Z_FIXED Z_FULL_FLUSH Z_HUFFMAN_ONLY Z_NO_COMPRESSION Z_NO_FLUSH Z_PARTIAL_FLUSH "
    "Z_RLE Z_SYNC_FLUSH Z_TREES adler32 compress compressobj crc32 decompress decompressobj error",
    "zoneinfo": "ZoneInfo ZoneInfoNotFoundError available_timezones",
}
"""Importable modules and the names of each; a name that this Python lacks is left out."""

LEFT_OUT: dict[str, str] = {
    "argparse": "there is no command line; put the values in variables",
    "asyncio.create_subprocess_exec": "there are no other processes; use a gate",
    "asyncio.create_subprocess_shell": "there are no other processes; use a gate",
    "asyncio.open_connection": "there is no network; use a gate",
    "asyncio.run_coroutine_threadsafe": "there is one thread; use asyncio.create_task",
    "asyncio.set_event_loop_policy": "there is one kind of loop; asyncio.new_event_loop makes one",
    "asyncio.start_server": "there is no network; use a gate",
    "atexit": "a session is ended from outside; use try and finally, or contextlib.ExitStack",
    "builtins": "the builtins are there by their names",
    "bz2.BZ2File": "there are no files; use bz2.compress and bz2.decompress",
    "bz2.open": "there are no files; use bz2.compress and bz2.decompress",
    "calendar.LocaleTextCalendar": "there is one locale, C; use calendar.TextCalendar",
    "codecs.getreader": "its readers read any attribute; use codecs.iterdecode",
    "codecs.getwriter": "its writers read any attribute; use codecs.iterencode",
    "codecs.lookup": "its classes read any attribute; use codecs.encode and decode",
    "codecs.open": "there are no files; use a gate, or io.StringIO",
    "codecs.register": "the runner relies on its own codecs",
    "codecs.register_error": "the runner relies on its own error handlers",
    "concurrent": "there are no threads or processes; use asyncio, or a plain loop",
    "configparser": "it reads files; use tomllib for TOML, or split the lines yourself",
    "contextlib.chdir": "there are no files, and no folder to be in",
    "ctypes": "it reaches any memory",
    "dataclasses.Field": "its names would be anybody's to give; call dataclasses.field",
    "doctest": "it runs texts past the rules; write assert statements",
    "email": "it is not given; take the text apart with re, or with str.partition",
    "enum.global_enum": "it binds names past the rules; assign the members that you want",
    "faulthandler": "errors are shown with their lines anyway",
    "gc": "it shows the runner's own objects; memory is freed by itself",
    "getopt": "there is no command line; put the values in variables",
    "getpass": "nobody is there to answer; ask through a gate",
    "glob": "there are no files; use a gate that lists them, and fnmatch for patterns",
    "gzip.GzipFile": "there are no files; use gzip.compress and gzip.decompress",
    "gzip.open": "there are no files; use gzip.compress and gzip.decompress",
    "http.client": "there is no network; use a gate",
    "importlib.metadata": "it reads files; most packages have a __version__",
    "importlib.reload": "there is one of each module, and it can't be changed",
    "importlib.resources": "there are no files; keep texts in variables",
    "importlib.util": "modules are not looked for; import in a try, with except ImportError",
    "inspect.currentframe": "frames lead to the runner's own; pass what is needed as arguments",
    "inspect.getattr_static": "it reads past the rules; use getattr",
    "inspect.getfile": "your code is in no file; inspect.getsource gives a function's text",
    "inspect.getfullargspec": "use inspect.signature",
    "inspect.getmro": "your own classes have __mro__",
    "inspect.getsourcelines": "use inspect.getsource(f).splitlines()",
    "inspect.stack": "frames lead to the runner's own; use traceback.extract_stack",
    "inspect.unwrap": "functions have __wrapped__, where they are your own",
    "io.BufferedReader": "it shows memory that it frees; use io.BytesIO, or io.TextIOWrapper",
    "io.FileIO": "there are no files; use a gate, or io.BytesIO",
    "io.open": "there are no files; use a gate, or io.StringIO",
    "linecache": "it opens files; a source of your own is a text",
    "logging.FileHandler": "there are no files; logging.StreamHandler takes an io.StringIO too",
    "logging.captureWarnings": "warnings are shown anyway; see warnings.catch_warnings",
    "logging.config": "it makes objects of names in texts; call logging.basicConfig, or addHandler",
    "logging.handlers": "they write to files and the network; inherit from logging.Handler",
    "lzma.LZMAFile": "there are no files; use lzma.compress and lzma.decompress",
    "lzma.open": "there are no files; use lzma.compress and lzma.decompress",
    "marshal": "it makes code out of bytes; use json",
    "multiprocessing": "there are no other processes; call the functions one after the other",
    "optparse": "there is no command line; put the values in variables",
    "os.chdir": "there are no files, and no folder to be in",
    "os.cpu_count": "it describes the host; there is one thread",
    "os.getcwd": "there are no files, and no folder that a program runs in",
    "os.getpid": "it describes the host",
    "os.listdir": "there are no files; use a gate that lists them",
    "os.makedirs": "there are no files; variables stay from turn to turn",
    "os.mkdir": "there are no files; variables stay from turn to turn",
    "os.open": "there are no files; use a gate, or io.StringIO",
    "os.path.abspath": "there is no folder that a program runs in; see os.path.normpath",
    "os.path.exists": "there are no files; use a gate that reads or lists them",
    "os.path.expanduser": "there are no files, and no home",
    "os.path.expandvars": "no environment variable is set; use string.Template",
    "os.path.getsize": "there are no files; use a gate",
    "os.path.isdir": "there are no files; use a gate that reads or lists them",
    "os.path.isfile": "there are no files; use a gate that reads or lists them",
    "os.path.realpath": "there are no files; see os.path.normpath",
    "os.remove": "there are no files; use a gate",
    "os.system": "there are no other processes; use a gate",
    "os.walk": "there are no files; use a gate that lists them",
    "pickle": "it calls whatever its bytes name; use json, or copy.deepcopy for copies",
    "platform": "it describes the host; sys.version_info and sys.platform are there",
    "pytest": "it is not given; write functions with assert statements, and call them",
    "requests": "there is no network; use a gate",
    "shelve": "there are no files; variables stay from turn to turn",
    "shlex.shlex": "it opens files; use shlex.split",
    "shutil": "there are no files; use a gate",
    "signal": "the runner relies on its own signals",
    "socket": "there is no network; use a gate",
    "sqlite3": "it opens files; use dicts and lists, sorted and itertools.groupby",
    "ssl": "there is no network; use a gate",
    "subprocess": "there are no other processes; use a gate",
    "sys.executable": "it describes the host; sys.version_info and sys.platform are there",
    "sys.modules": "it holds the runner's own modules; import what you need",
    "sys.path": "modules are not looked for in folders; the importable ones are listed",
    "sys.setprofile": "the runner relies on its own hooks; use time.perf_counter()",
    "sys.settrace": "the runner relies on its own hooks; print what you want to see",
    "tarfile": "it opens files; use gzip, bz2 or lzma for bytes",
    "tempfile": "there are no files; use io.StringIO or io.BytesIO",
    "threading": "there is one thread; use asyncio, or a plain loop",
    "timeit": "it runs texts past the rules; take time.perf_counter() before and after",
    "tokenize": "it is not given; ast.parse gives a tree",
    "traceback.TracebackException": "it reads frames and files; use traceback.format_exception",
    "traceback.walk_stack": "frames lead to the runner's own; use traceback.extract_stack",
    "traceback.walk_tb": "frames lead to the runner's own; use traceback.extract_tb",
    "types.CellType": "closures are the interpreter's own",
    "types.new_class": "it makes classes of any names; write a class statement",
    "typing.ForwardRef": "it evaluates texts; typing.get_type_hints reads them as types",
    "typing.reveal_type": "it is for type checkers; print type(x)",
    "typing_extensions": "typing has what this Python knows",
    "unittest": "it looks for tests in modules; write functions with assert, and call them",
    "urllib.error": "there is no network; use a gate",
    "urllib.request": "there is no network; use a gate",
    "warnings.deprecated": "it is not given; call warnings.warn in the function",
    "weakref.getweakrefs": "it shows the library's own references; keep those that you make",
    "weakref.proxy": "it passes for another class; keep a weakref.ref, and call it",
    "xml.dom": "it is not given; use xml.etree.ElementTree",
    "xml.etree.ElementTree.ElementTree": "it opens files; work with the root element itself",
    "xml.etree.ElementTree.XMLParser": "its callbacks can upset C code; use fromstring",
    "xml.etree.ElementTree.iterparse": "it opens files; use fromstring, and iter()",
    "xml.etree.ElementTree.parse": "it opens files; use fromstring",
    "xml.sax": "it is not given; use xml.etree.ElementTree",
    "zipfile": "it opens files; use zlib or gzip for bytes",
    "zoneinfo.TZPATH": "the zones are in memory; see zoneinfo.available_timezones()",
    "zoneinfo.reset_tzpath": "the zones are in memory; see zoneinfo.available_timezones()",
}
"""Modules, and names of modules, that a program may look for in vain: why, and what to use."""
