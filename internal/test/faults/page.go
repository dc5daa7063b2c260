package main

const pagePackage = "./internal/web"

// page tries who may see the page and act there, and what it makes of texts.
var page = []Rig{
	{
		Name: "page: requests", Promise: "a request of another host, another site, another session or without one is refused", Package: pagePackage + "/access",
		Test: "TestWhatIsRefused", Plain: true,
	},
	{
		Name: "page: two origins", Promise: "a header that is there twice is none", Package: pagePackage + "/access",
		Test: "TestTwoOriginsAreNone", Plain: true,
	},
	{
		Name: "page: links", Promise: "a link lets one browser in, once, within a minute, and by its button", Package: pagePackage + "/access",
		Test: "TestALinkIsUsedOnce", Plain: true,
	},
	{
		Name: "page: the cookie", Promise: "the cookie is for this host, no script and no other site", Package: pagePackage + "/access",
		Test: "TestTheCookie", Plain: true,
	},
	{
		Name: "page: sessions", Promise: "a session ends after its term and when the person leaves", Package: pagePackage + "/access",
		Test: "TestASessionEnds", Plain: true,
	},
	{
		Name: "page: headers", Promise: "every answer says what the browser may do with it", Package: pagePackage + "/access",
		Test: "TestEveryAnswerIsProtected", Plain: true,
	},
	{
		Name: "page: forms", Promise: "a form names an act of those that are possible now, and is never a command", Package: pagePackage,
		Test: "TestFormsThatTheListHasNot", Plain: true,
	},
	{
		Name: "page: what is lost", Promise: "what loses something is asked for", Package: pagePackage,
		Test: "TestWhatIsLostIsAskedFor", Plain: true,
	},
	{
		Name: "page: trust", Promise: "the page is read-only in a project that nobody has agreed to", Package: pagePackage,
		Test: "TestWithoutTrustThePageIsReadOnly", Plain: true,
	},
	{
		Name: "page: texts", Promise: "no text of a patch becomes an element of the page", Package: pagePackage + "/patch",
		Test: "TestColouredLinesAreTheSameText", Plain: true,
	},
	{
		Name: "page: comments", Promise: "a comment belongs to its submission alone, and below .ferrus/drafts", Package: pagePackage + "/drafts",
		Test: "TestWhatIsNoCommentIsRefused", Plain: true,
	},
	{
		Name: "page: the command", Promise: "no agent starts the page, and no address without TLS shows it to other machines", Package: "./internal/cli/web",
		Test: "TestAnAgentDoesNotStartThePage", Plain: true,
	},
}
