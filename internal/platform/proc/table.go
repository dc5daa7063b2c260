package proc

// A Group is a set of variables with one reason.
type Group struct {
	Why   string
	Names []string // in capitals; a trailing * matches every ending
}

// Table lists every variable that is frozen with a task. Variables that only change how output
// looks, where temporary files go or which network is used are not in it: a server in a sandbox has
// its own.
var Table = []Group{
	{"where a name is looked up, and what a shell reads first", []string{"PATH", "PATHEXT", "COMSPEC", "SHELL", "CDPATH", "IFS", "ENV",
		"BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "BASH_LOADABLES_PATH", "BASH_COMPAT", "POSIXLY_CORRECT", "GLOBIGNORE", "EXECIGNORE",
		"FIGNORE", "PROMPT_COMMAND", "PS4", "FPATH", "ZDOTDIR"}},
	{"what the loader and the C library read", []string{"LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "LIBPATH",
		"SHLIB_PATH", "MALLOC_*", "ASAN_OPTIONS", "HOSTALIASES", "RES_OPTIONS", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES"}},
	{"where programs find their settings and caches", []string{"HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
		"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_STATE_HOME"}},
	{"whose certificates count", []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "CURL_HOME", "REQUESTS_CA_BUNDLE"}},
	{"what other programs start", []string{"EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "SSH_ASKPASS", "SUDO_ASKPASS"}},
	{"git", []string{"GIT_*"}},
	{"make, C and C++", []string{"MAKE", "MAKEFILES", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "CC", "CXX", "CPP", "FC", "AR", "AS", "LD", "NM",
		"RANLIB", "STRIP", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
		"OBJC_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "PKG_CONFIG*", "CMAKE_*", "CTEST_*", "NINJA_*", "MESON_*",
		"CCACHE_*", "DISTCC_*", "SCCACHE_*", "BAZEL_*", "BAZELISK_*"}},
	{"Go", []string{"GOFLAGS", "GOPROXY", "GOENV", "GOTOOLCHAIN", "GOROOT", "GOPATH", "GOBIN", "GOCACHE", "GOCACHEPROG", "GOMODCACHE", "GOWORK",
		"GOPRIVATE", "GONOPROXY", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOINSECURE", "GOVCS", "GOAUTH", "GOEXPERIMENT", "GODEBUG", "GOOS",
		"GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOFIPS140", "GO111MODULE", "GO_EXTLINK_ENABLED", "GOTOOLDIR", "GOCOVERDIR",
		"GCCGO", "CGO_*"}},
	{"Rust", []string{"RUST*", "CARGO*"}},
	{"JavaScript", []string{"NODE_*", "NPM_*", "YARN_*", "PNPM_*", "COREPACK_*", "BUN_*", "DENO_*", "NVM_*", "FNM_*", "VOLTA_*", "N_PREFIX",
		"TS_NODE_*", "TSX_*", "BABEL_*", "JEST_*", "VITEST_*", "ELECTRON_*", "PUPPETEER_*", "PLAYWRIGHT_*"}},
	{"Python", []string{"PYTHON*", "PIP_*", "PIPX_*", "PIPENV_*", "UV_*", "VIRTUAL_ENV*", "CONDA_*", "MAMBA_*", "PYENV_*", "POETRY_*", "PDM_*",
		"HATCH_*", "PYTEST_*", "PY_COLORS", "TOX_*", "NOX_*", "COVERAGE_*", "MYPYPATH", "MYPY_*", "RUFF_*"}},
	{"Ruby", []string{"RUBY*", "GEM_*", "BUNDLE_*", "BUNDLER_*", "RBENV_*", "RVM_*", "RAKEOPT", "SPEC_OPTS"}},
	{"Perl and PHP", []string{"PERL5*", "PERLLIB", "PERL_*", "HARNESS_*", "PROVE_*", "PHP_*", "PHPRC", "COMPOSER_*"}},
	{"Java and its kin", []string{"JAVA_*", "JDK_*", "_JAVA_OPTIONS", "JAVACMD", "CLASSPATH", "MAVEN_*", "MVNW_*", "M2_HOME", "GRADLE_*", "ANT_*",
		"SBT_*", "JVM_OPTS", "KOTLIN_*", "SCALA_*", "CLJ_*", "LEIN_*", "ANDROID_*"}},
	{".NET", []string{"DOTNET_*", "NUGET_*", "MSBUILD*", "CORECLR_*", "COMPLUS_*", "COR_*"}},
	{"other languages", []string{"LUA_*", "LUAROCKS_*", "GUILE_*", "ERL_*", "ERLANG_*", "ELIXIR_*", "MIX_*", "HEX_*", "REBAR_*", "OCAML*", "CAML_*",
		"OPAM*", "DUNE_*", "GHC*", "HASKELL_*", "STACK_*", "CABAL_*", "JULIA_*", "R_*", "TCLLIBPATH", "SWIFT*", "ZIG_*", "DART_*", "PUB_*",
		"FLUTTER_*", "DEVELOPER_DIR", "SDKROOT", "TOOLCHAINS"}},
	{"what chooses among installed versions", []string{"ASDF_*", "MISE_*", "RTX_*", "SDKMAN_*", "NIX_*", "GUIX_*", "DIRENV_*", "PRE_COMMIT_*"}},
}
