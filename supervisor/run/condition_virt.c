/* SPDX-License-Identifier: MIT */
/* In what kind of machine or container this is, by the signs that systemd-detect-virt(1) goes
 * by. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/cleanup.h"
#include "run/condition_facts.h"

/* ---- containers ---- */

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static const char *by_file(void)
{
	if (exists("/run/.containerenv"))
		return "podman";
	return exists("/.dockerenv") ? "docker" : NULL;
}

/* What container managers say of themselves. */
static const char *known_container(const char *said)
{
	static const char *const names[] = {
		"lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch", "openvz",
	};

	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (str_equal(said, names[i]))
			return names[i];
	/* "oci" says no more than that it is one. */
	return by_file() ? by_file() : "container-other";
}

/* "container=" of the first process, which only root may read, and of ourselves. */
static const char *said_in_environment(struct facts *f)
{
	const char *text, *own = facts_variable(f, "container");
	size_t n, i = 0;

	if (getpid() == 1)
		return own && *own ? own : NULL;
	if (facts_read(f, "/proc/1/environ", &text, &n) < 0)
		return own && *own ? own : NULL;
	for (; i < n; i += strlen(text + i) + 1)
		if (str_starts(text + i, "container=") && text[i + strlen("container=")])
			return text + i + strlen("container=");
	return NULL;
}

int facts_container(struct facts *f, const char **ret)
{
	const char *said = NULL, *release;

	if (exists("/proc/vz") && !exists("/proc/bc"))
		said = "openvz";
	else if (facts_read_line(f, "/proc/sys/kernel/osrelease", &release) >= 0 &&
		 (strstr(release, "Microsoft") || strstr(release, "WSL")))
		said = "wsl";
	else if (facts_read_line(f, "/run/host/container-manager", &said) < 0 &&
		 facts_read_line(f, "/run/systemd/container", &said) < 0)
		said = said_in_environment(f);
	if (said && *said)
		*ret = known_container(said);
	else
		*ret = by_file();
	return *ret != NULL;
}

/* ---- machines ---- */

struct sign {
	const char *text, *name;
};

static const char *by_sign(const struct sign *sign, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(text, sign[i].text))
			return sign[i].name;
	return NULL;
}

static const char *by_dmi(struct facts *f)
{
	static const char *const files[] = {
		"/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/board_vendor",
		"/sys/class/dmi/id/bios_vendor", "/sys/class/dmi/id/product_version",
	};
	static const struct sign vendors[] = {
		{ "KVM", "kvm" },
		{ "OpenStack", "kvm" },
		{ "KubeVirt", "kvm" },
		{ "Amazon EC2", "amazon" },
		{ "QEMU", "qemu" },
		{ "VMware", "vmware" },
		{ "VMW", "vmware" },
		{ "innotek GmbH", "oracle" },
		{ "VirtualBox", "oracle" },
		{ "Oracle Corporation", "oracle" },
		{ "Xen", "xen" },
		{ "Bochs", "bochs" },
		{ "Parallels", "parallels" },
		{ "BHYVE", "bhyve" },
		{ "Hyper-V", "microsoft" },
		{ "Apple Virtualization", "apple" },
		{ "Google Compute Engine", "google" },
	};
	const char *line, *name = NULL;

	for (size_t i = 0; !name && i < ELEMENTS(files); i++)
		if (facts_read_line(f, files[i], &line) >= 0)
			name = by_sign(vendors, ELEMENTS(vendors), line);
	/* Amazon's bare metal says so. */
	if (name && str_equal(name, "amazon") && facts_read_line(f, files[0], &line) >= 0 &&
	    strstr(line, ".metal"))
		return NULL;
	return name;
}

static const char *by_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static const struct sign hypervisors[] = {
		{ "XenVMMXenVMM", "xen" },    { "KVMKVMKVM", "kvm" },
		{ "Linux KVM Hv", "kvm" },    { "TCGTCGTCGTCG", "qemu" },
		{ "VMwareVMware", "vmware" }, { "Microsoft Hv", "microsoft" },
		{ "bhyve bhyve ", "bhyve" },  { "QNXQVMBSQG", "qnx" },
		{ "ACRNACRNACRN", "acrn" },   { "SRESRESRESRE", "sre" },
		{ "Apple VZ", "apple" },
	};
	unsigned eax, ebx, ecx, edx, name[4] = { 0 };
	const char *known;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & 1U << 31))
		return NULL;
	__cpuid(0x40000000U, eax, name[0], name[1], name[2]);
	known = by_sign(hypervisors, ELEMENTS(hypervisors), (const char *) name);
	return known ? known : "vm-other";
#else
	return NULL;
#endif
}

static const char *by_device_tree(struct facts *f)
{
	const char *line;

	if (facts_read_line(f, "/proc/device-tree/hypervisor/compatible", &line) >= 0) {
		if (str_equal(line, "linux,kvm"))
			return "kvm";
		return strstr(line, "xen") ? "xen" : strstr(line, "vmware") ? "vmware" : "vm-other";
	}
	if (exists("/proc/device-tree/ibm,partition-name") &&
	    exists("/proc/device-tree/hmc-managed?") &&
	    !exists("/proc/device-tree/chosen/qemu,graphic-width"))
		return "powervm";
	if (facts_read_line(f, "/proc/device-tree/compatible", &line) >= 0 &&
	    str_equal(line, "qemu,pseries"))
		return "qemu";
	return NULL;
}

/* Of Xen's domains the first one is the machine itself. */
static bool is_xen_guest(struct facts *f)
{
	const char *line;

	return exists("/proc/xen") && !(facts_read_line(f, "/proc/xen/capabilities", &line) >= 0 &&
					strstr(line, "control_d"));
}

static const char *by_proc(struct facts *f)
{
	const char *text;
	size_t n;

	if (facts_read(f, "/proc/cpuinfo", &text, &n) >= 0 &&
	    strstr(text, "\nvendor_id\t: User Mode Linux"))
		return "uml";
	if (facts_read(f, "/proc/sysinfo", &text, &n) >= 0 && strstr(text, "VM00 Control Program"))
		return strstr(text, "z/VM") ? "zvm" : "kvm";
	if (facts_read_line(f, "/sys/hypervisor/type", &text) >= 0)
		return str_equal(text, "xen") ? NULL : "vm-other";
	return NULL;
}

/* Some hypervisors hide behind another's sign in the CPU: the firmware's word comes first then. */
static bool is_better_told_by_dmi(const char *name)
{
	return str_equal(name, "oracle") || str_equal(name, "xen") || str_equal(name, "amazon") ||
	       str_equal(name, "parallels") || str_equal(name, "google");
}

int facts_virtual_machine(struct facts *f, const char **ret)
{
	const char *dmi = by_dmi(f), *cpu = by_cpu(), *name;

	if (dmi && is_better_told_by_dmi(dmi) && !(str_equal(dmi, "xen") && !is_xen_guest(f)))
		name = dmi;
	else if (cpu && !str_equal(cpu, "vm-other"))
		name = str_equal(cpu, "xen") && !is_xen_guest(f) ? NULL : cpu;
	else if (dmi && !str_equal(dmi, "xen"))
		name = dmi;
	else if (is_xen_guest(f))
		name = "xen";
	else {
		name = by_proc(f);
		name = name ? name : by_device_tree(f);
		name = name ? name : cpu;
	}
	*ret = name;
	return name != NULL;
}
