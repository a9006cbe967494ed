/** What a reader wants, and where it is answered. */
export interface ReaderGoal {
  readonly goal: string;
  /** Pages after the first one, by path; the last one with the heading that has the answer. */
  readonly path: readonly string[];
  /** What the reader types into the search of the site instead. */
  readonly search: string;
}

/** What users type into the search, and the page that should be among the first three results. */
export const readerSearches: readonly (readonly [search: string, page: string])[] = [
  ["scale to zero", "docs/guides/pools.md"],
  ["stuck terminating", "docs/operations/troubleshoot.md"],
  ["spot", "docs/concepts/health-and-remediation.md"],
  ["spot instance", "docs/concepts/health-and-remediation.md"],
  ["drain timeout", "docs/guides/draining.md"],
  ["quota", "docs/operations/aws.md"],
  ["image pull", "docs/faq.md"],
  ["helm values", "charts/millwright/README.md"],
  ["helm chart", "charts/millwright/README.md"],
  ["rollback", "docs/guides/rollouts.md"],
  ["metrics", "docs/metrics.md"],
  ["prometheus", "docs/operations/monitor.md"],
  ["install", "docs/operations/install.md"],
  ["uninstall", "docs/operations/uninstall.md"],
  ["upgrade", "docs/operations/upgrade.md"],
  ["node never joins", "docs/operations/troubleshoot.md"],
  ["labels and taints", "docs/guides/pools.md"],
];

/** What readers type who do not know the words of the pages, and the pages that answer: one of them should be among the first three results. */
export const readersWords: readonly (readonly [search: string, ...pages: readonly string[]])[] = [
  ["alert when a machine fails", "docs/operations/alerts.md", "docs/operations/monitor.md", "docs/faq.md"],
  ["rotate credentials", "docs/operations/aws.md", "docs/operations/gcp.md", "docs/operations/azure.md", "docs/faq.md"],
  ["use my own AMI", "docs/faq.md", "docs/guides/aws.md", "providers/aws/README.md"],
  ["restart all nodes", "docs/faq.md", "docs/guides/rollouts.md"],
  ["private registry", "docs/faq.md", "charts/millwright/README.md"],
  ["change instance type", "docs/faq.md", "docs/guides/pools.md"],
  ["node not ready", "docs/operations/troubleshoot.md", "docs/concepts/health-and-remediation.md", "docs/faq.md"],
  ["pdb blocks node deletion", "docs/guides/draining.md", "docs/operations/troubleshoot.md"],
  [
    "delete everything",
    "docs/operations/uninstall.md",
    "docs/operations/objects-were-lost.md",
    "docs/guides/a-day-with-a-pool.md",
  ],
  ["restore from backup", "docs/operations/objects-were-lost.md"],
  ["stop it from deleting my machines", "docs/guides/safety.md", "docs/guides/deletion-budget.md", "docs/faq.md"],
  ["how many machines", "docs/reference/scale.md", "docs/faq.md"],
  ["preemptible VMs", "docs/faq.md", "docs/concepts/health-and-remediation.md", "providers/gcp/README.md"],
  ["behind a proxy", "docs/guides/egress-proxies.md", "docs/faq.md"],
  ["who can do what", "docs/security.md", "docs/permissions.md"],
];

const map = "docs/README.md";

/** Twenty goals of the four readers: with a laptop, an operator, an author of a driver, a user of MCM. */
export const readerGoals: readonly ReaderGoal[] = [
  { goal: "try it without a cloud", path: ["README.md#what-you-see"], search: "what you see" },
  { goal: "a home lab with QEMU", path: [map, "docs/guides/qemu.md"], search: "home lab QEMU" },
  {
    goal: "create a node pool on AWS",
    path: ["docs/guides/aws.md#class-secret-deployment"],
    search: "AWS empty account node pool",
  },
  {
    goal: "my node never joins",
    path: [map, "docs/operations/troubleshoot.md#a-machine-stays-pending-no-node-joins"],
    search: "no node joins",
  },
  {
    goal: "replace all nodes on Sunday night only",
    path: [map, "docs/guides/rollouts.md#maintenance-windows"],
    search: "maintenance windows",
  },
  {
    goal: "try a change on one machine first",
    path: [map, "docs/guides/rollouts.md#canary-steps"],
    search: "canary steps",
  },
  {
    goal: "go back to the previous template",
    path: [map, "docs/guides/rollouts.md#pause-wait-roll-back"],
    search: "pause wait roll back",
  },
  {
    goal: "replace one machine",
    path: [map, "docs/guides/pools.md#replace-one-machine"],
    search: "replace one machine",
  },
  {
    goal: "see what blocks a drain",
    path: [map, "docs/guides/draining.md#what-blocks-a-drain"],
    search: "what blocks a drain",
  },
  {
    goal: "see what a change would do",
    path: ["docs/guides/previewing-changes.md#plan-a-change"],
    search: "plan a change",
  },
  {
    goal: "approve deletions that are held",
    path: [map, "docs/guides/deletion-budget.md#approve-held-deletions"],
    search: "approve held deletions",
  },
  {
    goal: "keep a broken machine to debug it",
    path: [map, "docs/guides/preserving-machines.md#preserve-a-machine"],
    search: "preserve a machine",
  },
  {
    goal: "find VMs that no machine owns",
    path: ["docs/guides/safety.md#a-vm-without-machine"],
    search: "VM without machine",
  },
  { goal: "upgrade", path: [map, "docs/operations/upgrade.md#order"], search: "upgrade version skew" },
  {
    goal: "what to do for an alert",
    path: [map, "docs/operations/alerts.md#millwrightorphanvms"],
    search: "MillwrightOrphanVMs",
  },
  {
    goal: "scale from zero with the cluster autoscaler",
    path: [map, "docs/operations/cluster-autoscaler.md#scale-from-zero"],
    search: "scale from zero",
  },
  {
    goal: "my driver needs a second call after creation",
    path: [map, "docs/drivers.md#a-second-call-after-the-creation"],
    search: "second call after the creation",
  },
  { goal: "check a driver", path: [map, "docs/drivers/tutorial.md#check-it"], search: "tutorial driver check it" },
  {
    goal: "swap MCM for this in one deployment",
    path: [map, "docs/operations/migrate-from-mcm.md#switch"],
    search: "migrate from MCM",
  },
  { goal: "return to MCM", path: [map, "docs/operations/migrate-from-mcm.md#switch-back"], search: "switch back MCM" },
];
