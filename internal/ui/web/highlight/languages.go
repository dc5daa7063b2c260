package highlight

import (
	"path"
	"strings"
	"sync"
)

// A region is what a language does not read as code: a string or a comment.
type region struct {
	open, close string // without close it ends with its line
	class       string
	escapes     bool // a backslash takes the next byte along
	lines       bool // it goes on over lines
}

// A language is what is known of one: enough for colours, not for a parser.
type language struct {
	files   string   // what names end with, or whole names
	regions []region // the first that fits counts
	words   string   // keywords
}

// The regions of several languages.
var (
	slashes   = region{open: "//", class: "c"}
	slashStar = region{open: "/*", close: "*/", class: "c", lines: true}
	hash      = region{open: "#", class: "c"}
	dashes    = region{open: "--", class: "c"}
	semicolon = region{open: ";", class: "c"}
	markup    = region{open: "<!--", close: "-->", class: "c", lines: true}
	double    = region{open: `"`, close: `"`, class: "s", escapes: true}
	single    = region{open: "'", close: "'", class: "s", escapes: true}
	back      = region{open: "`", close: "`", class: "s", escapes: true, lines: true}
	raw       = region{open: "`", close: "`", class: "s", lines: true}
	doubles   = region{open: `"""`, close: `"""`, class: "s", escapes: true, lines: true}
	singles   = region{open: "'''", close: "'''", class: "s", escapes: true, lines: true}
)

// sql is keywords, written in small or in capital letters.
const sql = "add all alter and as asc begin between by case cascade check column commit constraint create default delete desc distinct drop else end exists foreign from " +
	"function full group having if in index inner insert into is join key left like limit not null on or order outer primary references returning right rollback " +
	"select set table then transaction trigger union unique update values view when where with"

// languages are those that are coloured.
var languages = []language{
	{".go go.mod go.work", []region{slashes, slashStar, raw, double, single},
		"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var " +
			"nil true false iota require replace exclude module"},
	{".js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte", []region{slashes, slashStar, back, double, single},
		"abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function if " +
			"implements import in instanceof interface keyof let namespace new null of private protected public readonly return satisfies static super switch this throw " +
			"true try type typeof undefined var void while with yield"},
	{".py .pyi .bzl BUILD SConstruct", []region{hash, doubles, singles, double, single},
		"and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or " +
			"pass raise return True try while with yield"},
	{".rs", []region{slashes, slashStar, {open: `r#"`, close: `"#`, class: "s", lines: true}, {open: `"`, close: `"`, class: "s", escapes: true, lines: true}},
		"as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super " +
			"trait true type unsafe use where while"},
	{".c .h .cc .cpp .cxx .hh .hpp .m .mm .cu .ino", []region{slashes, slashStar, double, single},
		"alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if " +
			"inline int long mutable namespace new noexcept nullptr NULL operator private protected public register return short signed sizeof static struct switch template " +
			"this throw true try typedef typename union unsigned using virtual void volatile while define endif ifdef ifndef include pragma undef"},
	{".java .kt .kts .scala .groovy .gradle .dart", []region{slashes, slashStar, doubles, double, single},
		"abstract as assert async await boolean break byte case catch char class companion const continue data def default do double else enum extends false final finally " +
			"float for fun if implements implicit import in instanceof int interface is lateinit lazy long match native new null object open override package private " +
			"protected public record return sealed short static super switch synchronized this throw throws trait transient true try type val var void volatile when while " +
			"with yield"},
	{".cs", []region{slashes, slashStar, double, single},
		"abstract as async await base bool break byte case catch char class const continue decimal default delegate do double else enum event explicit extern false " +
			"finally fixed float for foreach get goto if implicit in int interface internal is lock long namespace new null object operator out override params private " +
			"protected public readonly record ref return sealed set short static string struct switch this throw true try typeof uint using var virtual void where while yield"},
	{".swift", []region{slashes, slashStar, doubles, double},
		"as async await break case catch class continue default defer do else enum extension false fileprivate for func guard if import in init inout internal is let " +
			"nil open operator override private protocol public repeat rethrows return self Self static struct subscript super switch throw throws true try typealias var where while"},
	{".php", []region{slashes, slashStar, hash, double, single},
		"abstract and array as break case catch class clone const continue default do echo else elseif enum extends false final finally fn for foreach function global if " +
			"implements include instanceof interface isset match namespace new null or private protected public readonly require require_once return static switch throw " +
			"trait true try unset use var while yield"},
	{".rb .rake .gemspec Gemfile Rakefile", []region{hash, double, single},
		"alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or raise redo require rescue retry return self super " +
			"then true undef unless until when while yield"},
	{".sh .bash .zsh .fish .bats Dockerfile Makefile .mk .just", []region{hash, {open: `"`, close: `"`, class: "s", escapes: true, lines: true}, {open: "'", close: "'", class: "s", lines: true}},
		"case do done elif else esac exit export fi for function if in local return select set shift then trap until while " +
			"FROM RUN CMD COPY ADD ENV ARG WORKDIR ENTRYPOINT EXPOSE USER VOLUME LABEL ifeq ifneq endif include define endef"},
	{".sql", []region{dashes, slashStar, single, double}, sql + " " + strings.ToUpper(sql)},
	{".lua", []region{{open: "--[[", close: "]]", class: "c", lines: true}, dashes, double, single},
		"and break do else elseif end false for function goto if in local nil not or repeat return then true until while"},
	{".hs .elm", []region{{open: "{-", close: "-}", class: "c", lines: true}, dashes, double},
		"case class data deriving do else exposing if import in infix infixl infixr instance let module newtype of port then type where"},
	{".ex .exs .erl", []region{hash, doubles, double, single},
		"after alias and case catch cond def defmodule defp defmacro defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless unquote use when with"},
	{".css .scss .less", []region{slashStar, double, single}, ""},
	{".yaml .yml .toml .ini .cfg .conf .properties .env .gitignore .tf .hcl .nix", []region{hash, doubles, singles, double, single}, "true false null yes no on off"},
	{".json .jsonc .json5", []region{slashes, slashStar, double}, "true false null"},
	{".html .htm .xml .svg .xhtml .xsl .plist .csproj", []region{markup, double}, ""},
	{".lisp .el .clj .cljs .edn .scm .asm", []region{semicolon, double}, "def defn defmacro defun defvar if let lambda fn ns nil true false"},
	{".r .R .jl .pl .pm .awk", []region{hash, double, single},
		"begin BEGIN break const do else elseif elsif end END false FALSE for foreach function if import in last let local module my next NULL our package print repeat " +
			"require return struct sub true TRUE undef unless until use using while"},
	{".zig", []region{slashes, double, single},
		"align and anytype break catch comptime const continue defer else enum errdefer error export extern false fn for if inline null or orelse packed pub return struct " +
			"switch test true try undefined union unreachable usingnamespace var volatile while"},
	{".proto .thrift .graphql .gql", []region{slashes, slashStar, hash, double},
		"bool bytes double enum extend false float import input int32 int64 interface map message mutation oneof option optional package query repeated required " +
			"reserved returns rpc scalar schema service string stream struct subscription syntax true type union"},
}

// known is languages by the end of a name, each with its keywords. It is made when it is first asked for: few commands show a page.
var known = sync.OnceValue(func() map[string]*lexer {
	all := map[string]*lexer{}
	for _, l := range languages {
		one := &lexer{regions: l.regions, words: map[string]bool{}}
		for _, word := range strings.Fields(l.words) {
			one.words[word] = true
		}
		for _, name := range strings.Fields(l.files) {
			all[name] = one
		}
	}
	return all
})

// lexerOf returns what colours a file: the empty lexer if its language is unknown.
func lexerOf(file string) *lexer {
	for _, name := range []string{path.Base(file), path.Ext(file)} {
		if l := known()[name]; l != nil {
			return l
		}
	}
	return &lexer{}
}
