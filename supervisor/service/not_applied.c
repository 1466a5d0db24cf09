/* SPDX-License-Identifier: MIT */
#include "service/not_applied.h"

#include <assert.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"

#define SANDBOX(key) { key, NOT_APPLIED_SANDBOX, NULL }
#define WITHOUT(key, sentence) { key, NOT_APPLIED_SANDBOX, sentence }
#define CANNOT(key, sentence) { key, NOT_APPLIED_UNSUPPORTED, sentence }
#define NEEDS(key, sentence) { key, NOT_APPLIED_NEEDS_SYSTEMD, sentence }

#define AMBIENT "supd hands on no capabilities; as another user than root the service lacks these"
#define DYNAMIC "supd makes up no users; the service runs as User= says, and else as root"
#define VIEW \
	"supd makes no namespaces; the service sees the machine's files, and may do with them what its user may"
#define NET "supd makes and enters no namespaces; the service is in those of supd"
#define CREDENTIALS \
	"supd makes no credentials; keep the secret in a file that only User= can read, and name that to the program"
#define DISK "supd does not count what lies in directories; a quota of the file system does"
#define JOB \
	"a start waits as long as those do that it comes after; TimeoutStartSec= of each of them bounds that"
#define PRESSURE \
	"supd tells no service of memory pressure; it can read /proc/pressure/memory by itself"
#define STARTUP \
	"supd has no other limits while it starts up; the key without Startup holds all the time"
#define TIMEOUT_MODE "what does not end in time gets KillSignal=, and then SIGKILL"
#define V1 "this is of cgroup v1; "
#define ACTION \
	"only the system's first process can end the system; start a service that does what you want, by OnFailure="
#define CREDENTIAL \
	"systemd-creds encrypts for systemd alone; keep the secret in a file that only User= can read"
#define DAEMON "this is for services that go on running; a oneshot service has TimeoutStartSec="
#define JOURNAL "there is no systemd-journald here; supd keeps what a service prints by itself"
#define OOMD "there is no systemd-oomd here; MemoryMax= in the service sets a bound"
#define SESSION "sessions of a terminal are made by systemd-logind and getty"
#define SLICE "slices are groups that systemd makes; set the limits in the service itself"
#define SOCKET "there are no socket units here; let the program open its sockets by itself"

static const struct row {
	const char *key;
	enum not_applied_reason reason;
	const char *explanation; /* NULL: that of the reason */
} rows[] = {
	WITHOUT("AmbientCapabilities", AMBIENT),
	SANDBOX("AppArmorProfile"),
	SANDBOX("BPFDelegateAttachments"),
	SANDBOX("BPFDelegateCommands"),
	SANDBOX("BPFDelegateMaps"),
	SANDBOX("BPFDelegatePrograms"),
	SANDBOX("BPFProgram"),
	WITHOUT("BindPaths", VIEW),
	WITHOUT("BindReadOnlyPaths", VIEW),
	SANDBOX("CapabilityBoundingSet"),
	SANDBOX("DelegateNamespaces"),
	SANDBOX("DeviceAllow"),
	SANDBOX("DevicePolicy"),
	WITHOUT("DynamicUser", DYNAMIC),
	WITHOUT("ExecPaths", VIEW),
	WITHOUT("ExtensionDirectories", VIEW),
	WITHOUT("ExtensionImagePolicy", VIEW),
	WITHOUT("ExtensionImages", VIEW),
	SANDBOX("IPAddressAllow"),
	SANDBOX("IPAddressDeny"),
	WITHOUT("IPCNamespacePath", NET),
	SANDBOX("IPEgressFilterPath"),
	SANDBOX("IPIngressFilterPath"),
	SANDBOX("InaccessibleDirectories"),
	SANDBOX("InaccessiblePaths"),
	WITHOUT("JoinsNamespaceOf", VIEW),
	SANDBOX("KeyringMode"),
	SANDBOX("LandlockConfig"),
	SANDBOX("LockPersonality"),
	SANDBOX("MemoryDenyWriteExecute"),
	WITHOUT("MountAPIVFS", VIEW),
	WITHOUT("MountFlags", VIEW),
	WITHOUT("MountImagePolicy", VIEW),
	WITHOUT("MountImages", VIEW),
	WITHOUT("NFTSet", NET),
	WITHOUT("NetworkNamespacePath", NET),
	SANDBOX("NoExecPaths"),
	SANDBOX("NoNewPrivileges"),
	SANDBOX("PrivateBPF"),
	SANDBOX("PrivateDevices"),
	SANDBOX("PrivateIPC"),
	SANDBOX("PrivateMounts"),
	SANDBOX("PrivateNetwork"),
	SANDBOX("PrivatePIDs"),
	SANDBOX("PrivateTmp"),
	SANDBOX("PrivateUsers"),
	SANDBOX("ProcSubset"),
	SANDBOX("ProtectClock"),
	SANDBOX("ProtectControlGroups"),
	SANDBOX("ProtectHome"),
	SANDBOX("ProtectHostname"),
	SANDBOX("ProtectKernelLogs"),
	SANDBOX("ProtectKernelModules"),
	SANDBOX("ProtectKernelTunables"),
	SANDBOX("ProtectProc"),
	SANDBOX("ProtectSystem"),
	SANDBOX("ReadOnlyDirectories"),
	SANDBOX("ReadOnlyPaths"),
	WITHOUT("ReadWriteDirectories", VIEW),
	WITHOUT("ReadWritePaths", VIEW),
	SANDBOX("RemoveIPC"),
	SANDBOX("RestrictAddressFamilies"),
	SANDBOX("RestrictFileSystems"),
	SANDBOX("RestrictNamespaces"),
	SANDBOX("RestrictNetworkInterfaces"),
	SANDBOX("RestrictRealtime"),
	SANDBOX("RestrictSUIDSGID"),
	WITHOUT("RootDirectory", VIEW),
	WITHOUT("RootDirectoryStartOnly", VIEW),
	WITHOUT("RootEphemeral", VIEW),
	WITHOUT("RootHash", VIEW),
	WITHOUT("RootHashSignature", VIEW),
	WITHOUT("RootImage", VIEW),
	WITHOUT("RootImageOptions", VIEW),
	WITHOUT("RootImagePolicy", VIEW),
	WITHOUT("RootVerity", VIEW),
	SANDBOX("SELinuxContext"),
	SANDBOX("SecureBits"),
	SANDBOX("SmackProcessLabel"),
	SANDBOX("SocketBindAllow"),
	SANDBOX("SocketBindDeny"),
	SANDBOX("SystemCallArchitectures"),
	SANDBOX("SystemCallErrorNumber"),
	SANDBOX("SystemCallFilter"),
	SANDBOX("SystemCallLog"),
	WITHOUT("TemporaryFileSystem", VIEW),

	CANNOT("BlockIODeviceWeight", V1 "there is IODeviceWeight="),
	CANNOT("BlockIOReadBandwidth", V1 "there is IOReadBandwidthMax="),
	CANNOT("BlockIOWeight", V1 "there is IOWeight="),
	CANNOT("BlockIOWriteBandwidth", V1 "there is IOWriteBandwidthMax="),
	CANNOT("CPUShares", V1 "there is CPUWeight="),
	CANNOT("CacheDirectoryAccounting", DISK),
	CANNOT("CacheDirectoryQuota", DISK),
	CANNOT("DefaultMemoryLow", SLICE),
	CANNOT("DefaultMemoryMin", SLICE),
	CANNOT("DefaultStartupMemoryLow", SLICE),
	CANNOT("Delegate",
	       "supd hands no control group over; a service of root can make some below its own all the same"),
	CANNOT("ExecSearchPath",
	       "a program without a path is searched where supd searches; write its whole path"),
	CANNOT("FinalKillSignal", "what does not end in time gets SIGKILL"),
	CANNOT("JobRunningTimeoutSec", JOB),
	CANNOT("JobTimeoutSec", JOB),
	CANNOT("LoadCredential", CREDENTIALS),
	CANNOT("LogsDirectoryAccounting", DISK),
	CANNOT("LogsDirectoryQuota", DISK),
	CANNOT("MemoryKSM", "supd does not ask the kernel to merge equal pages"),
	CANNOT("MemoryPressureThresholdSec", PRESSURE),
	CANNOT("MemoryPressureWatch", PRESSURE),
	CANNOT("MemoryZSwapWriteback",
	       "supd leaves it to the kernel what it writes back of compressed memory"),
	CANNOT("OpenFile",
	       "supd opens no files for a service but StandardInput=file: and its like; let the program open them"),
	CANNOT("PAMName",
	       "supd opens no session of PAM; what PAM would set (limits, environment) has to stand in the unit"),
	CANNOT("SetCredential", CREDENTIALS),
	CANNOT("SetLoginEnvironment",
	       "HOME, USER, LOGNAME and SHELL are set with User=, and not without it"),
	CANNOT("StartupAllowedCPUs", STARTUP),
	CANNOT("StartupAllowedMemoryNodes", STARTUP),
	CANNOT("StartupBlockIOWeight", STARTUP),
	CANNOT("StartupCPUShares", STARTUP),
	CANNOT("StartupCPUWeight", STARTUP),
	CANNOT("StartupIOWeight", STARTUP),
	CANNOT("StartupMemoryHigh", STARTUP),
	CANNOT("StartupMemoryLow", STARTUP),
	CANNOT("StartupMemoryMax", STARTUP),
	CANNOT("StartupMemorySwapMax", STARTUP),
	CANNOT("StartupMemoryZSwapMax", STARTUP),
	CANNOT("StateDirectoryAccounting", DISK),
	CANNOT("StateDirectoryQuota", DISK),
	CANNOT("TimeoutStartFailureMode", TIMEOUT_MODE),
	CANNOT("TimeoutStopFailureMode", TIMEOUT_MODE),
	CANNOT("WantsMountsFor",
	       "supd mounts nothing; RequiresMountsFor= keeps a service from running where something is missing"),

	NEEDS("BindLogSockets", JOURNAL),
	NEEDS("DelegateSubgroup", SLICE),
	NEEDS("DisableControllers", SLICE),
	NEEDS("ExitType", DAEMON),
	NEEDS("ExtraFileDescriptors", SOCKET),
	NEEDS("FailureAction", ACTION),
	NEEDS("ImportCredential", CREDENTIAL),
	NEEDS("JobTimeoutAction", ACTION),
	NEEDS("LoadCredentialEncrypted", CREDENTIAL),
	NEEDS("LogExtraFields", JOURNAL),
	NEEDS("LogFilterPatterns", JOURNAL),
	NEEDS("LogNamespace", JOURNAL),
	NEEDS("ManagedOOMMemoryPressure", OOMD),
	NEEDS("ManagedOOMMemoryPressureDurationSec", OOMD),
	NEEDS("ManagedOOMMemoryPressureLimit", OOMD),
	NEEDS("ManagedOOMPreference", OOMD),
	NEEDS("ManagedOOMSwap", OOMD),
	NEEDS("SetCredentialEncrypted", CREDENTIAL),
	NEEDS("Slice", SLICE),
	NEEDS("Sockets", SOCKET),
	NEEDS("StartLimitAction", ACTION),
	NEEDS("SuccessAction", ACTION),
	NEEDS("USBFunctionDescriptors", SOCKET),
	NEEDS("USBFunctionStrings", SOCKET),
	NEEDS("UtmpIdentifier", SESSION),
	NEEDS("UtmpMode", SESSION),
	NEEDS("WatchdogSec", DAEMON),
};

static const struct {
	const char *word, *explanation;
} reasons[] = {
	[NOT_APPLIED_UNSUPPORTED] = { "unsupported",
				      "supd cannot do this; all goes on as if the line were not there" },
	[NOT_APPLIED_SANDBOX] = { "sandbox",
				  "supd has no sandbox; the service runs without this protection" },
	[NOT_APPLIED_NEEDS_SYSTEMD] = { "needs-systemd", "this makes sense only under systemd" },
};
static_assert(ELEMENTS(reasons) == NOT_APPLIED_REASON_COUNT, "words for each reason");

static const struct row *find(const char *key)
{
	for (size_t i = 0; key && i < ELEMENTS(rows); i++)
		if (str_equal(rows[i].key, key))
			return &rows[i];
	return NULL;
}

enum not_applied_reason not_applied_reason(const char *key)
{
	const struct row *row = find(key);

	return row ? row->reason : NOT_APPLIED_UNSUPPORTED;
}

const char *not_applied_reason_to_string(enum not_applied_reason r)
{
	return reasons[r].word;
}

/* Of keys that services have. */
static const char *explain_in_timer(const char *key)
{
	static const char *const keys_of_services[] = {
		"OnFailure", "OnSuccess", "RequiresMountsFor", "StartLimitBurst", "StartLimitInterval", "StartLimitIntervalSec",
	};

	if (str_starts(key, "Condition") || str_starts(key, "Assert"))
		return "a timer has no moment to be judged at; in its service the same line is judged at each start";
	if (str_equal(key, "RandomizedOffsetSec"))
		return "RandomizedDelaySec= with FixedRandomDelay=yes puts off by chance, and always as long";
	for (size_t i = 0; i < ELEMENTS(keys_of_services); i++)
		if (str_equal(key, keys_of_services[i]))
			return "in a timer this means nothing here; it belongs into its service";
	return NULL;
}

const char *not_applied_explanation(const char *key)
{
	const struct row *row = find(key);
	const char *explanation = row ? row->explanation : key ? explain_in_timer(key) : NULL;

	return explanation ? explanation : reasons[not_applied_reason(key)].explanation;
}

bool not_applied_asks_for_nothing(const char *key, const char *value)
{
	static const struct {
		/* what it is without the key, where that is a word of its own */
		const char *key, *value;
	} defaults[] = {
		{ "DevicePolicy", "auto" },
		{ "ExitType", "main" },
		{ "FailureAction", "none" },
		{ "FinalKillSignal", "SIGKILL" },
		{ "FinalKillSignal", "KILL" },
		{ "JobRunningTimeoutSec", "infinity" },
		{ "JobTimeoutAction", "none" },
		{ "JobTimeoutSec", "infinity" },
		{ "KeyringMode", "inherit" },
		{ "ManagedOOMMemoryPressure", "auto" },
		{ "ManagedOOMPreference", "none" },
		{ "ManagedOOMSwap", "auto" },
		{ "MemoryPressureWatch", "auto" },
		{ "ProcSubset", "all" },
		{ "ProtectProc", "default" },
		{ "Slice", "system.slice" },
		{ "StartLimitAction", "none" },
		{ "SuccessAction", "none" },
		{ "TimeoutStartFailureMode", "terminate" },
		{ "TimeoutStopFailureMode", "terminate" },
	};
	bool is_on;

	for (size_t i = 0; i < ELEMENTS(defaults); i++)
		if (str_equal(defaults[i].key, key) && str_equal(defaults[i].value, value))
			return true;
	/* "no" and "0" turn off what is off anyway, but for these. */
	return !str_starts(key, "Startup") && !str_equal(key, "PAMName") &&
	       !str_equal(key, "SetLoginEnvironment") && value_bool(value, &is_on) == 0 && !is_on;
}

const char *not_applied_key_at(size_t i)
{
	return i < ELEMENTS(rows) ? rows[i].key : NULL;
}
