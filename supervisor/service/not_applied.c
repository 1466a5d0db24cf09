/* SPDX-License-Identifier: MIT */
#include "service/not_applied.h"

#include <assert.h>

#include "base/cleanup.h"
#include "base/text.h"

#define SANDBOX(key) { key, NOT_APPLIED_SANDBOX, NULL }
#define NEEDS(key, sentence) { key, NOT_APPLIED_NEEDS_SYSTEMD, sentence }

#define ACTION "only the system's first process can end the system; start a service that does what you want, by OnFailure="
#define CREDENTIAL "systemd-creds encrypts for systemd alone; keep the secret in a file that only User= can read"
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
	SANDBOX("AmbientCapabilities"), SANDBOX("AppArmorProfile"), SANDBOX("BPFDelegateAttachments"),
	SANDBOX("BPFDelegateCommands"), SANDBOX("BPFDelegateMaps"), SANDBOX("BPFDelegatePrograms"),
	SANDBOX("BPFProgram"), SANDBOX("BindPaths"), SANDBOX("BindReadOnlyPaths"),
	SANDBOX("CapabilityBoundingSet"), SANDBOX("DelegateNamespaces"), SANDBOX("DeviceAllow"),
	SANDBOX("DevicePolicy"), SANDBOX("DynamicUser"), SANDBOX("ExecPaths"),
	SANDBOX("ExtensionDirectories"), SANDBOX("ExtensionImagePolicy"), SANDBOX("ExtensionImages"),
	SANDBOX("IPAddressAllow"), SANDBOX("IPAddressDeny"), SANDBOX("IPCNamespacePath"),
	SANDBOX("IPEgressFilterPath"), SANDBOX("IPIngressFilterPath"), SANDBOX("InaccessibleDirectories"),
	SANDBOX("InaccessiblePaths"), SANDBOX("JoinsNamespaceOf"), SANDBOX("KeyringMode"),
	SANDBOX("LandlockConfig"), SANDBOX("LockPersonality"), SANDBOX("MemoryDenyWriteExecute"),
	SANDBOX("MountAPIVFS"), SANDBOX("MountFlags"), SANDBOX("MountImagePolicy"), SANDBOX("MountImages"),
	SANDBOX("NFTSet"), SANDBOX("NetworkNamespacePath"), SANDBOX("NoExecPaths"),
	SANDBOX("NoNewPrivileges"), SANDBOX("PrivateBPF"), SANDBOX("PrivateDevices"), SANDBOX("PrivateIPC"),
	SANDBOX("PrivateMounts"), SANDBOX("PrivateNetwork"), SANDBOX("PrivatePIDs"), SANDBOX("PrivateTmp"),
	SANDBOX("PrivateUsers"), SANDBOX("ProcSubset"), SANDBOX("ProtectClock"),
	SANDBOX("ProtectControlGroups"), SANDBOX("ProtectHome"), SANDBOX("ProtectHostname"),
	SANDBOX("ProtectKernelLogs"), SANDBOX("ProtectKernelModules"), SANDBOX("ProtectKernelTunables"),
	SANDBOX("ProtectProc"), SANDBOX("ProtectSystem"), SANDBOX("ReadOnlyDirectories"),
	SANDBOX("ReadOnlyPaths"), SANDBOX("ReadWriteDirectories"), SANDBOX("ReadWritePaths"),
	SANDBOX("RemoveIPC"), SANDBOX("RestrictAddressFamilies"), SANDBOX("RestrictFileSystems"),
	SANDBOX("RestrictNamespaces"), SANDBOX("RestrictNetworkInterfaces"), SANDBOX("RestrictRealtime"),
	SANDBOX("RestrictSUIDSGID"), SANDBOX("RootDirectory"), SANDBOX("RootDirectoryStartOnly"),
	SANDBOX("RootEphemeral"), SANDBOX("RootHash"), SANDBOX("RootHashSignature"), SANDBOX("RootImage"),
	SANDBOX("RootImageOptions"), SANDBOX("RootImagePolicy"), SANDBOX("RootVerity"),
	SANDBOX("SELinuxContext"), SANDBOX("SecureBits"), SANDBOX("SmackProcessLabel"),
	SANDBOX("SocketBindAllow"), SANDBOX("SocketBindDeny"), SANDBOX("SystemCallArchitectures"),
	SANDBOX("SystemCallErrorNumber"), SANDBOX("SystemCallFilter"), SANDBOX("SystemCallLog"),
	SANDBOX("TemporaryFileSystem"),

	NEEDS("BindLogSockets", JOURNAL), NEEDS("DelegateSubgroup", SLICE), NEEDS("DisableControllers", SLICE),
	NEEDS("ExitType", DAEMON), NEEDS("ExtraFileDescriptors", SOCKET), NEEDS("FailureAction", ACTION),
	NEEDS("ImportCredential", CREDENTIAL), NEEDS("JobTimeoutAction", ACTION),
	NEEDS("LoadCredentialEncrypted", CREDENTIAL), NEEDS("LogExtraFields", JOURNAL),
	NEEDS("LogFilterPatterns", JOURNAL), NEEDS("LogNamespace", JOURNAL),
	NEEDS("ManagedOOMMemoryPressure", OOMD), NEEDS("ManagedOOMMemoryPressureDurationSec", OOMD),
	NEEDS("ManagedOOMMemoryPressureLimit", OOMD), NEEDS("ManagedOOMPreference", OOMD),
	NEEDS("ManagedOOMSwap", OOMD), NEEDS("SetCredentialEncrypted", CREDENTIAL), NEEDS("Slice", SLICE),
	NEEDS("Sockets", SOCKET), NEEDS("StartLimitAction", ACTION), NEEDS("SuccessAction", ACTION),
	NEEDS("USBFunctionDescriptors", SOCKET), NEEDS("USBFunctionStrings", SOCKET),
	NEEDS("UtmpIdentifier", SESSION), NEEDS("UtmpMode", SESSION), NEEDS("WatchdogSec", DAEMON),
};

static const struct {
	const char *word, *explanation;
} reasons[] = {
	[NOT_APPLIED_UNSUPPORTED] = { "unsupported", "supd cannot do this; all goes on as if the line were not there" },
	[NOT_APPLIED_SANDBOX] = { "sandbox", "supd has no sandbox; the service runs without this protection" },
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

const char *not_applied_explanation(const char *key)
{
	const struct row *row = find(key);

	return row && row->explanation ? row->explanation : reasons[not_applied_reason(key)].explanation;
}

const char *not_applied_key_at(size_t i)
{
	return i < ELEMENTS(rows) ? rows[i].key : NULL;
}
