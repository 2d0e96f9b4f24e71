/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of `agentrun policy explain`, in catalogue order: for every rule of this build what it
   protects, what it looks at, and how to satisfy it in the words of each engine.  Pure data.  */
#include "policy/policy.h"

#include "base/str.h"

/* The same words for three engines, where the engine itself is at work.  */
#define ENGINE_WRITES "nothing to do: the engine writes it; a failure means that something else did"

#define TEXT(...)                                                                                  \
  &(const struct rule_help) { __VA_ARGS__ }

static const struct rule_help *const texts[] = {
  TEXT (.id = "json.syntax",
        .protects = "that every reader of config.json sees the same configuration",
        .looks_at = "config.json is one well-formed JSON object: no byte order mark, comments, "
                    "NaN, trailing data, invalid UTF-8 or NUL, no control characters in paths, "
                    "ids and names",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "json.duplicate",
        .protects = "that no second value of a member hides behind the first",
        .looks_at = "no member is repeated in an object, compared after unescaping, anywhere in "
                    "the document",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "json.case",
        .protects = "that no member is read by one program and skipped by another",
        .looks_at = "no member equals a known one but for case: Go's reader would take it, a C "
                    "one would not",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "json.type",
        .protects = "that numbers and words are what they seem: -1, 4294967296 and \"0\" have "
                    "all meant root somewhere",
        .looks_at = "each known member has its type, integers are integers within the field's "
                    "range; null means absent",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "json.size", .protects = "the runtime itself against oversized input",
        .looks_at = "config.json has at most 16 MiB and nests at most 64 deep",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "json.unknown", .protects = "that nothing is asked for which this runtime would skip",
        .looks_at = "members that the runtime-spec 1.3 schema doesn't know; reported, since the "
                    "specification demands that they be accepted",
        .docker = "nothing to do", .podman = "nothing to do", .kubernetes = "nothing to do"),
  TEXT (.id = "json.version",
        .protects = "that the configuration is of a kind that this runtime understands",
        .looks_at = "ociVersion is there and its major version is 1", .docker = ENGINE_WRITES,
        .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "lifecycle.record", .protects = "that what starts is what was judged",
        .looks_at = "at start, the bytes of config.json and the policy are those of create, and "
                    "the record of the container is whole",
        .docker = "create the container again", .podman = "create the container again",
        .kubernetes = "nothing to do: the kubelet makes a new container"),
  TEXT (.id = "bundle.owner",
        .protects = "that what was judged is what the administrator's engine wrote",
        .looks_at = "the bundle directory and config.json belong to root (or the caller) and "
                    "nobody else can write them",
        .docker = "keep the data root and /run/docker as Docker made them",
        .podman = "keep the storage directories as Podman made them",
        .kubernetes = "keep the containerd or CRI-O state directories as they were made"),
  TEXT (.id = "container.id",
        .protects = "the state directory and logs against names with paths or control "
                    "characters in them",
        .looks_at = "the id matches [A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}",
        .docker = "nothing to do: Docker's ids fit", .podman = "nothing to do: Podman's ids fit",
        .kubernetes = "nothing to do: CRI ids fit"),
  TEXT (.id = "cli.unsafe",
        .protects = "pivot_root and the session keyring, without which the host stays within "
                    "reach, and the control group, which holds the limits and the device filter",
        .looks_at = "--no-pivot, --no-new-keyring and --cgroup-manager=disabled",
        .docker = "remove DOCKER_RAMDISK and --no-pivot from the runtime's arguments",
        .podman = "remove no_pivot_root from containers.conf",
        .kubernetes = "remove NoPivotRoot from the runtime's options in the containerd "
                      "configuration"),
  TEXT (.id = "process.descriptor",
        .protects = "the host against handles that are passed into the container",
        .looks_at = "every descriptor that reaches the process: 0 to 2, --preserve-fds, "
                    "LISTEN_FDS. Refused are directories, O_PATH and mount descriptors, devices "
                    "but terminals and null and its like; from 3 up writable files, Unix "
                    "sockets and handles of the kernel",
        .docker = "nothing to do: Docker passes pipes or a terminal",
        .podman = "remove --preserve-fds, or pass pipes and read-only files only",
        .kubernetes = "nothing to do: the shim passes pipes or a terminal"),
  TEXT (.id = "user.pause",
        .protects = "against root in the pod's infrastructure container, which needs no "
                    "privilege at all",
        .looks_at = "arguments exactly /catatonit -P or /pause with uid 0; tightened to "
                    "65535:65535 without capabilities, on a read-only root file system",
        .docker = "not used by Docker", .podman = "nothing to do: tightened",
        .kubernetes = "use a pause image with a user of its own (registry images since 3.0 have "
                      "one)"),
  TEXT (.id = "user.root",
        .protects = "the host's kernel and files: uid 0 in a container is root in many of the "
                    "kernel's checks, also inside of a user namespace",
        .looks_at = "process.user.uid is 0, absent or 4294967295", .docker = "add --user 1000:1000",
        .podman = "add --user 1000:1000 (--userns=keep-id keeps your own id)",
        .kubernetes = "securityContext: runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true"),
  TEXT (.id = "user.gid-zero", .protects = "files that only root's group may read or write",
        .looks_at = "gid 0 with another uid, and 0 among additionalGids beside it, which docker "
                    "run -u 1000 sends by habit; tightened to the uid's own number",
        .docker = "write the group as well: --user 1000:1000",
        .podman = "write the group as well: --user 1000:1000",
        .kubernetes = "securityContext: runAsGroup: 1000"),
  TEXT (.id = "user.group-zero", .protects = "files that only root's group may read or write",
        .looks_at = "0 among additionalGids while gid is another one",
        .docker = "remove --group-add 0",
        .podman = "remove --group-add 0 and --group-add keep-groups",
        .kubernetes = "take 0 out of supplementalGroups and fsGroup"),
  TEXT (.id = "user.host-group",
        .protects = "the host against groups that are as good as root on it",
        .looks_at = "without a user namespace, a gid that the host's /etc/group calls docker, "
                    "disk, shadow, kvm, sudo and the like: supplementary ones are dropped, a "
                    "primary one is refused (a warning where it equals the uid)",
        .docker = "remove --group-add; choose another group in --user UID:GID",
        .podman = "remove --group-add; choose another group in --user UID:GID",
        .kubernetes = "choose other numbers in runAsGroup, supplementalGroups and fsGroup"),
  TEXT (.id = "capability.extra",
        .protects = "the host against rights beyond those of an ordinary process",
        .looks_at = "any of the five capability sets names one outside of the 14 that engines "
                    "give by default, or an unknown one",
        .docker = "remove --cap-add and --privileged",
        .podman = "remove --cap-add and --privileged",
        .kubernetes = "take capabilities.add and privileged out of the securityContext"),
  TEXT (.id = "capability.default",
        .protects = "the host against rights that engines give without being asked, such as "
                    "NET_RAW and MKNOD",
        .looks_at = "capabilities of the engines' default list in any set; all sets are emptied "
                    "but for granted ones",
        .docker = "add --cap-drop ALL to have the same under any runtime",
        .podman = "add --cap-drop ALL", .kubernetes = "securityContext: capabilities: drop: [ALL]"),
  TEXT (.id = "privilege.new-privileges",
        .protects = "against set-id programs and file capabilities of the image",
        .looks_at = "process.noNewPrivileges is not true; tightened",
        .docker = "add --security-opt no-new-privileges",
        .podman = "add --security-opt no-new-privileges",
        .kubernetes = "securityContext: allowPrivilegeEscalation: false"),
  TEXT (.id = "seccomp.missing",
        .protects = "the kernel against system calls that an agent has no use for",
        .looks_at = "linux.seccomp is absent; the built-in profile is used",
        .docker = "remove --security-opt seccomp=unconfined",
        .podman = "remove --security-opt seccomp=unconfined",
        .kubernetes = "securityContext: seccompProfile: type: RuntimeDefault"),
  TEXT (.id = "seccomp.allow-all", .protects = "against a profile that only looks like one",
        .looks_at = "defaultAction is ALLOW, LOG, TRACE or NOTIFY",
        .docker = "use a profile that refuses by default, or Docker's own",
        .podman = "use a profile that refuses by default, or Podman's own",
        .kubernetes = "seccompProfile: type: RuntimeDefault"),
  TEXT (.id = "seccomp.notify", .protects = "against system calls decided by a program outside",
        .looks_at = "the action NOTIFY, listenerPath, listenerMetadata",
        .docker = "take them out of the profile", .podman = "take them out of the profile",
        .kubernetes = "take them out of the localhost profile"),
  TEXT (.id = "seccomp.flag", .protects = "the hardening that comes with a filter",
        .looks_at = "SECCOMP_FILTER_FLAG_SPEC_ALLOW and other flags but LOG and TSYNC; removed",
        .docker = "take the flag out of the profile", .podman = "take the flag out of the profile",
        .kubernetes = "take the flag out of the localhost profile"),
  TEXT (.id = "seccomp.baseline",
        .protects = "the kernel where engines' profiles are wide: bpf, io_uring, mount, setns, "
                    "keyctl, perf, new namespaces, odd socket families",
        .looks_at = "always: a second filter in front of the engine's profile; a grant of kind "
                    "syscall opens one of its groups",
        .docker = "nothing to do: added", .podman = "nothing to do: added",
        .kubernetes = "nothing to do: added"),
  TEXT (.id = "lsm.unconfined",
        .protects = "the second line of defence of the host's security module",
        .looks_at = "an AppArmor profile \"unconfined\", an SELinux type that confines nothing",
        .docker = "remove --security-opt apparmor=unconfined and label=disable",
        .podman = "remove --security-opt apparmor=unconfined and label=disable",
        .kubernetes = "take Unconfined and spc_t out of appArmorProfile and seLinuxOptions"),
  TEXT (.id = "lsm.missing", .protects = "the second line of defence where the host has one",
        .looks_at = "AppArmor or SELinux is on, and the process has no profile or label of it",
        .docker = "nothing to do: Docker sets docker-default, and a label with --selinux-enabled",
        .podman = "nothing to do: Podman sets both where they are on",
        .kubernetes = "set appArmorProfile: RuntimeDefault; containerd sets labels with "
                      "enable_selinux"),
  TEXT (.id = "namespace.host", .protects = "the host's processes, network, shared memory and name",
        .looks_at = "pid, network, ipc, uts and mount each have an entry, and a joined one is "
                    "not the host's, told by the inode of the opened file",
        .docker = "remove --network host, --pid host, --ipc host, --uts host; not --network "
                  "container: of one that has the host's",
        .podman = "remove --network host, --pid host, --ipc host, --uts host",
        .kubernetes = "hostNetwork, hostPID, hostIPC: false"),
  TEXT (.id = "namespace.entry", .protects = "that each namespace is what it is called",
        .looks_at = "an entry's path is a namespace file of the entry's type; no type twice or "
                    "unknown; no mount namespace by path; a user namespace that is joined is "
                    "not the host's and has the maps that the configuration says",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "namespace.foreign", .protects = "other containers and services against being joined",
        .looks_at = "a joined namespace is an engine's network namespace or that of a container "
                    "of the same pod in agentrun's record; a shared pid namespace in the pod is "
                    "a warning",
        .docker = "remove --network container:, --ipc container:, --pid container:, or grant "
                  "the namespace",
        .podman = "put the containers into one pod, or grant the namespace",
        .kubernetes = "nothing to do: containers of a pod may share; shareProcessNamespace "
                      "gives a warning"),
  TEXT (.id = "namespace.cgroup", .protects = "the names of the host's other groups",
        .looks_at = "a cgroup namespace is missing; added",
        .docker = "add --cgroupns private to have it under any runtime",
        .podman = "add --cgroupns private", .kubernetes = "nothing to do: added"),
  TEXT (.id = "userns.mapping", .protects = "that ids of a user namespace are nobody's on the host",
        .looks_at = "host ranges that include 0, wrap or are empty; maps without a user "
                    "namespace; process ids that are not mapped",
        .docker = "use userns-remap with a range of /etc/subuid",
        .podman = "use --userns=auto or a range of /etc/subuid",
        .kubernetes = "nothing to do: hostUsers: false gets its range from the kubelet"),
  TEXT (.id = "mount.source",
        .protects = "the host's files: only what somebody granted, or an engine put there "
                    "itself, is shown",
        .looks_at = "the canonical path of each bind source against the grants and the known "
                    "shapes of engine files",
        .docker = "use a named volume, or add the grant that the message shows",
        .podman = "use a named volume, or add the grant that the message shows",
        .kubernetes = "use emptyDir, configMap or a claim; hostPath needs a grant"),
  TEXT (.id = "mount.never",
        .protects = "what gives the host away: control sockets, credentials of accounts, whole "
                    "system directories",
        .looks_at = "a source on or above an entry of the never list, or with its object below "
                    "it, by path and by inode; no grant helps",
        .docker = "remove the -v; give the agent a mediated service instead of docker.sock",
        .podman = "remove the -v; give the agent a mediated service instead of podman.sock",
        .kubernetes = "remove the hostPath volume"),
  TEXT (.id = "mount.socket",
        .protects = "services of the host against being called from the container",
        .looks_at = "a source that is a socket, fifo or device, and directories with such "
                    "inside, found by a walk before the start; read-only is no excuse",
        .docker = "mount a directory without sockets, or grant the one socket",
        .podman = "mount a directory without sockets, or grant the one socket",
        .kubernetes = "remove the hostPath volume of the socket"),
  TEXT (.id = "mount.shared-writer",
        .protects = "against sockets that appear in a directory after it was judged",
        .looks_at = "a directory that others than the container's user and root can write, or a "
                    "named volume that another running container has mounted writable",
        .docker = "mount a directory of the container's own user, or a named volume",
        .podman = "mount a directory of the container's own user, or a named volume",
        .kubernetes = "use emptyDir instead of hostPath"),
  TEXT (.id = "mount.credential", .protects = "keys and tokens against being read by the agent",
        .looks_at = "a source named like credentials; names of that kind inside of a directory, "
                    "to depth 2, are a warning",
        .docker = "keep .env, .ssh and key files out of what is mounted",
        .podman = "keep .env, .ssh and key files out of what is mounted",
        .kubernetes = "mount only the keys of a secret that the agent is to have"),
  TEXT (.id = "mount.token", .protects = "the cluster's API",
        .looks_at = "a Kubernetes service account token among the mounts",
        .docker = "not used by Docker", .podman = "not used by Podman",
        .kubernetes = "automountServiceAccountToken: false"),
  TEXT (.id = "mount.mode", .protects = "what was granted for reading only",
        .looks_at = "a source with a read-only grant is mounted writable",
        .docker = "add :ro to the -v", .podman = "add :ro to the -v",
        .kubernetes = "readOnly: true in volumeMounts"),
  TEXT (.id = "mount.foreign",
        .protects = "against file systems that hide below a granted directory or behind a volume",
        .looks_at = "mounts below the source of an rbind; a named volume that is a mount of "
                    "another directory (-o device=)",
        .docker = "use --mount type=bind,bind-recursive=disabled; a plain named volume",
        .podman = "use :bind in place of :rbind; a plain named volume",
        .kubernetes = "a claim of a storage class instead of a local path"),
  TEXT (.id = "mount.type", .protects = "the kernel's file system drivers",
        .looks_at = "a type other than proc, sysfs, tmpfs, devpts, mqueue, cgroup, cgroup2; "
                    "bind mounts are judged by their source",
        .docker = "use -v, --mount or --tmpfs", .podman = "don't use :O (overlay) and --rootfs",
        .kubernetes = "use ordinary volumes"),
  TEXT (.id = "mount.pseudo",
        .protects = "the host's settings in procfs, sysfs and the cgroup tree",
        .looks_at = "procfs once and on /proc, sysfs read-only on /sys, cgroup read-only on "
                    "/sys/fs/cgroup (tightened to ro)",
        .docker = "remove --privileged and mounts of /proc or /sys",
        .podman = "remove --privileged and --systemd=always",
        .kubernetes = "take privileged out of the securityContext"),
  TEXT (.id = "mount.option", .protects = "against options that undo protection",
        .looks_at = "unknown options and parameters, commas inside, remount, an explicit suid "
                    "or dev, a second or zero size",
        .docker = "remove suid, dev and odd words from --mount and --tmpfs",
        .podman = "remove suid, dev and odd words from -v and --tmpfs",
        .kubernetes = "remove them from mountOptions"),
  TEXT (.id = "mount.hardening",
        .protects = "against set-id programs and device nodes in what is mounted",
        .looks_at = "nosuid and nodev on every mount and the root file system; added where they "
                    "are missing",
        .docker = "nothing to do: added", .podman = "nothing to do: added",
        .kubernetes = "nothing to do: added"),
  TEXT (.id = "mount.protected",
        .protects = "parts of a writable workspace that the host itself runs or trusts: a "
                    "repository's hooks and configuration, an agent's own settings",
        .looks_at = "the names that a grant lists under protect; each is made read-only and the "
                    "directories above it can't be renamed; refused are a name that does not exist "
                    "and one that leads over a link",
        .docker = "make the file or directory on the host before the container starts",
        .podman = "make the file or directory on the host before the container starts",
        .kubernetes = "make the file or directory in the volume before the pod starts"),
  TEXT (.id = "mount.propagation", .protects = "the host's mount table",
        .looks_at = "shared propagation is refused, slave is tightened to private",
        .docker = "remove :shared, :rshared, :slave, :rslave",
        .podman = "remove :shared, :rshared, :slave, :rslave",
        .kubernetes = "mountPropagation: None"),
  TEXT (.id = "mount.idmap", .protects = "the owners of the host's files",
        .looks_at = "idmapped mounts, unless a user namespace is in use, host id 0 is not in the "
                    "map, and what the process writes belongs to another than root on disk",
        .docker = "not used by Docker", .podman = "remove :idmap from the volume",
        .kubernetes = "nothing to do: the kubelet's maps fit"),
  TEXT (.id = "mount.destination",
        .protects = "what the runtime and the kernel show in /proc, /sys and /dev",
        .looks_at = "mounts over /, inside of /proc or /sys, over /dev and its nodes",
        .docker = "mount it elsewhere", .podman = "mount it elsewhere",
        .kubernetes = "choose another mountPath"),
  TEXT (.id = "rootfs.path", .protects = "the host against being its own container",
        .looks_at = "the root file system is a directory in the bundle or below an engine's "
                    "data root",
        .docker = "run an image", .podman = "run an image; not --rootfs",
        .kubernetes = "nothing to do: snapshots of the engine fit"),
  TEXT (.id = "rootfs.shape",
        .protects = "that /proc, /sys and /dev of the container are where they are mounted",
        .looks_at = "each of them in the image is a directory or absent",
        .docker = "rebuild the image with ordinary directories",
        .podman = "rebuild the image with ordinary directories",
        .kubernetes = "rebuild the image with ordinary directories"),
  TEXT (.id = "rootfs.readonly",
        .protects = "against a workload that changes its own programs and stays",
        .looks_at = "root.readonly is true", .docker = "add --read-only --tmpfs /tmp",
        .podman = "add --read-only (it brings tmpfs on /tmp, /run and /var/tmp)",
        .kubernetes = "readOnlyRootFilesystem: true and an emptyDir on /tmp"),
  TEXT (.id = "rootfs.propagation", .protects = "the host's mount table",
        .looks_at = "rootfsPropagation shared is refused, others are tightened to private",
        .docker = "remove :shared, :rshared, :slave, :rslave from the volumes",
        .podman = "remove :shared, :rshared, :slave, :rslave from the volumes",
        .kubernetes = "mountPropagation: None"),
  TEXT (.id = "path.masked",
        .protects = "files of procfs and sysfs that tell of the host or act on it",
        .looks_at = "the masked and read-only paths; the built-in ones are added",
        .docker = "remove --security-opt systempaths=unconfined to have it under any runtime",
        .podman = "remove --security-opt unmask=ALL", .kubernetes = "procMount: Default"),
  TEXT (.id = "process.cwd",
        .protects = "against a working directory that is an open descriptor of the runtime",
        .looks_at = "process.cwd is absolute and not below /proc or /dev/fd",
        .docker = "set --workdir to a directory of the image",
        .podman = "set --workdir to a directory of the image",
        .kubernetes = "workingDir: a directory of the image"),
  TEXT (.id = "device.node", .protects = "the host's devices",
        .looks_at = "linux.devices beyond null, zero, full, random, urandom, tty and the "
                    "terminal's, told by type and numbers",
        .docker = "remove --device, or grant it", .podman = "remove --device, or grant it",
        .kubernetes = "remove device plugins' resources, or grant the device"),
  TEXT (.id = "device.cgroup", .protects = "the host's devices",
        .looks_at = "an allow rule beyond the default devices; the right to make nodes is "
                    "dropped from each rule",
        .docker = "remove --device-cgroup-rule, --device and --privileged",
        .podman = "remove --device-cgroup-rule, --device and --privileged",
        .kubernetes = "take privileged out of the securityContext"),
  TEXT (.id = "device.network", .protects = "the host's network interfaces",
        .looks_at = "linux.netDevices", .docker = "not used by Docker",
        .podman = "not used by Podman", .kubernetes = "remove the network device claim"),
  TEXT (.id = "sysctl.name", .protects = "the kernel's settings",
        .looks_at = "names beyond the namespaced ones that engines use; net.* without a network "
                    "namespace of its own",
        .docker = "remove --sysctl, or grant the name",
        .podman = "remove --sysctl, or grant the name",
        .kubernetes = "take it out of securityContext.sysctls, or grant the name"),
  TEXT (.id = "limit.memory", .protects = "the host's memory",
        .looks_at = "a limit is there and within the policy's maximum, no swap beyond it, the "
                    "OOM killer stays on",
        .docker = "add -m 512m", .podman = "add -m 512m",
        .kubernetes = "resources: limits: memory: 512Mi"),
  TEXT (.id = "limit.pids", .protects = "the host's process table",
        .looks_at = "a limit is there and within the policy's maximum",
        .docker = "add --pids-limit 100", .podman = "add --pids-limit 100",
        .kubernetes = "nothing to do: added (the kubelet's podPidsLimit holds for the pod)"),
  TEXT (.id = "limit.cpu", .protects = "the host's processors",
        .looks_at = "a quota is there and within the policy's maximum; no realtime",
        .docker = "add --cpus 1; remove --cpu-rt-runtime",
        .podman = "add --cpus 1; remove --cpu-rt-runtime",
        .kubernetes = "resources: limits: cpu: 1"),
  TEXT (.id = "limit.tmpfs", .protects = "the host's memory against files that are kept in it",
        .looks_at = "each tmpfs has a size within the policy's maximum; without one the default "
                    "is set",
        .docker = "add :size=64m to --tmpfs", .podman = "add :size=64m to --tmpfs",
        .kubernetes = "sizeLimit on emptyDir with medium: Memory"),
  TEXT (.id = "limit.open-files", .protects = "the host's table of open files",
        .looks_at = "RLIMIT_NOFILE within the policy's maximum; one that would be inherited from "
                    "the engine is lowered to it",
        .docker = "lower --ulimit nofile", .podman = "lower --ulimit nofile",
        .kubernetes = "nothing to do: the engine's default fits"),
  TEXT (.id = "limit.unified", .protects = "the limits above, which raw cgroup files could undo",
        .looks_at = "linux.resources.unified has nothing but plain limits within the policy",
        .docker = "not used by Docker", .podman = "remove --cgroup-conf",
        .kubernetes = "remove cgroup v2 settings of the runtime class"),
  TEXT (.id = "limit.oom",
        .protects = "the host's other processes: what can't be killed takes them down",
        .looks_at = "oomScoreAdj -1000 is refused, other negatives become 0",
        .docker = "remove a negative --oom-score-adj",
        .podman = "remove a negative --oom-score-adj", .kubernetes = "nothing to do: tightened"),
  TEXT (.id = "limit.unenforced", .protects = "against limits that are only written down",
        .looks_at = "an ordinary user for whom no control group can be made: a warning, and a "
                    "denial where limits are asked for",
        .docker = "run the daemon with a delegated group (systemd: Delegate=yes)",
        .podman = "log in with a systemd user session, which delegates one",
        .kubernetes = "nothing to do: the kubelet is root"),
  TEXT (.id = "limit.rlimit",
        .protects = "the host against real-time, locked memory and core dumps through its own "
                    "handler",
        .looks_at = "unknown, duplicate and dangerous limits are refused; RLIMIT_CORE becomes "
                    "1, which a piped core_pattern respects",
        .docker = "remove --ulimit rtprio, nice, memlock=-1, msgqueue=-1, sigpending=-1",
        .podman = "remove --ulimit rtprio, nice, memlock=-1, msgqueue=-1, sigpending=-1",
        .kubernetes = "nothing to do"),
  TEXT (.id = "cgroup.path", .protects = "the host's other groups",
        .looks_at = "cgroupsPath has no .., is not a root and has a printable name",
        .docker = "remove --cgroup-parent / and its like",
        .podman = "remove --cgroup-parent / and its like",
        .kubernetes = "nothing to do: the kubelet's groups fit"),
  TEXT (.id = "scheduling.special", .protects = "the host's processors and caches",
        .looks_at = "real-time schedulers, nice below 0, real-time I/O, memoryPolicy, intelRdt, "
                    "personality flags",
        .docker = "not used by Docker", .podman = "not used by Podman",
        .kubernetes = "remove RDT classes and scheduling annotations"),
  TEXT (.id = "hook.path", .protects = "the host: hooks run there as root",
        .looks_at = "any hook but Docker's libnetwork-setkey, recognised by the daemon's "
                    "process, and granted ones",
        .docker = "nothing to do: Docker's own hook is known",
        .podman = "remove hooks.d entries, or grant the hook",
        .kubernetes = "remove NRI and CDI hooks, or grant the hook"),
  TEXT (.id = "annotation.unsafe",
        .protects = "against annotations that change what a runtime does",
        .looks_at = "keys that begin with run.oci., krun., org.criu., module.wasm. or "
                    "org.systemd.property. but a harmless few",
        .docker = "not used by Docker", .podman = "remove --annotation",
        .kubernetes = "remove it from the pod's annotations"),
  TEXT (.id = "environment.loader", .protects = "programs against code that is loaded into them",
        .looks_at = "LD_PRELOAD, LD_AUDIT and the policy's own list in process.env",
        .docker = "remove -e LD_PRELOAD=...", .podman = "remove -e LD_PRELOAD=...",
        .kubernetes = "remove it from env"),
  TEXT (.id = "environment.secret",
        .protects = "keys and tokens against being read by the agent and whatever it starts",
        .looks_at = "values in the shape of a private key or a well-known token, names that say "
                    "secret; the value is never shown",
        .docker = "keep credentials out of -e; give the agent a proxy that holds them",
        .podman = "keep credentials out of -e and --secret type=env; give the agent a proxy "
                  "that holds them",
        .kubernetes = "don't use secretKeyRef in env; give the agent a proxy that holds them"),
  TEXT (.id = "image.digest",
        .protects = "against an image that is another one than the one that was looked at",
        .looks_at = "the image's name in the annotations of containerd's CRI and of CRI-O ends in "
                    "@sha256: and a digest; without such an annotation there is nothing to say",
        .docker = "nothing to do: Docker tells no name",
        .podman = "nothing to do: Podman tells no name",
        .kubernetes = "write image: NAME@sha256:..."),
  TEXT (.id = "exec.process",
        .protects = "what was admitted against processes that are added to it later",
        .looks_at =
            "a process that joins a running container is judged by the rules user.*, "
            "capability.*, privilege.*, process.*, lsm.*, limit.rlimit and environment.*; its "
            "user and groups are the container's own or in exec.users; exec.allow and "
            "exec.commands of the policy hold",
        .docker = "docker exec without -u and without --privileged",
        .podman = "podman exec without --user and without --privileged",
        .kubernetes = "nothing to do: kubectl exec and probes use the container's user"),
  TEXT (.id = "update.limit", .protects = "the limits that a container was admitted with",
        .looks_at =
            "memory, processes, processor time and raw cgroup settings of an update against "
            "the policy's maximum, and device rules beyond the default ones",
        .docker = "docker update within limits.*.max of the policy; -1 is refused",
        .podman = "podman update within limits.*.max of the policy; -1 is refused",
        .kubernetes = "keep resources.limits within limits.*.max of the policy"),
  TEXT (.id = "config.invalid",
        .protects = "against starting something else than what the configuration means",
        .looks_at = "what the runtime-spec demands of a configuration and no other rule covers; "
                    "holds in every profile",
        .docker = ENGINE_WRITES, .podman = ENGINE_WRITES, .kubernetes = ENGINE_WRITES),
  TEXT (.id = "config.unsupported", .protects = "against a setting that is skipped in silence",
        .looks_at = "members that this build can't apply; holds in every profile",
        .docker = "remove the option that the message names",
        .podman = "remove the option that the message names",
        .kubernetes = "remove the field that the message names"),
  TEXT (.id = "config.capability",
        .protects = "nothing: it tells that less is given than was asked for",
        .looks_at = "capabilities that are unknown or that no process here can hold; they are left "
                    "out, as the runtime-spec wants it",
        .docker = "remove --cap-add of it", .podman = "remove --cap-add of it",
        .kubernetes = "remove it from capabilities.add"),
  NULL,
};

const struct rule_help *policy_explain (const char *rule)
{
  for (size_t i = 0; texts[i] != NULL; i++)
    if (str_equal (texts[i]->id, rule))
      return texts[i];
  return NULL;
}

const struct rule_help *const *policy_rules (void) { return texts; }
