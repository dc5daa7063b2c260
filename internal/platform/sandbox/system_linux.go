package sandbox

// System is the policy under which the programs of the system run: compilers, interpreters and shells with what they read at their
// start. It names no folder that can be written.
func System() Policy {
	return Policy{
		Read: []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/opt", "/proc",
			"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/host.conf",
			"/etc/gai.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/localtime", "/etc/alternatives", "/etc/os-release", "/etc/mime.types", "/etc/gitconfig",
			"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/shells", "/etc/inputrc", "/etc/terminfo",
			"/sys/fs/cgroup", "/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage"},
		Devices: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom"},
	}
}
