import { type Mutant, withCloud, withDriver } from "./mutant.ts";

let lives = 0;

/** Mistakes in what is asked of the cloud, and in what is believed of it. */
export const cloudMutants: Readonly<Record<string, Mutant>> = {
  "vm-deletion-assumed": {
    mistake: "a VM counts as deleted before the cloud has confirmed that",
    profile: "people",
    foundBySeed: 1,
    alteration: () => withDriver(() => ({ deleteMachine: async () => ({ vm: "ended" }) })),
  },
  "vm-of-another-machine": {
    mistake: "the cloud is asked to delete the VM before that of the machine",
    profile: "people",
    foundBySeed: 1,
    alteration() {
      let last: string | undefined;
      return withCloud((cloud) => ({
        async createVm(input, call) {
          const vm = await cloud.createVm(input, call);
          last = vm.id;
          return vm;
        },
        deleteVm: (ref, call) => cloud.deleteVm(last ?? ref, call),
      }));
    },
  },
  "no-idempotency-token": {
    mistake: "each attempt to create a VM has a token of its own",
    profile: "creation",
    foundBySeed: 1,
    alteration() {
      let attempts = 0;
      const life = ++lives;
      return withCloud((cloud) => ({
        createVm: (input, call) => cloud.createVm({ ...input, token: `${input.token}/${life}/${++attempts}` }, call),
      }));
    },
  },
  "token-not-stored": {
    mistake: "a process that starts again does not know the token of a creation before",
    profile: "creation",
    foundBySeed: 1,
    alteration() {
      const life = ++lives;
      return withCloud((cloud) => ({
        createVm: (input, call) => cloud.createVm({ ...input, token: `${input.token}/${life}` }, call),
      }));
    },
  },
  "vms-created-twice": {
    mistake: "a creation that failed is sent again under another token at once",
    profile: "creation",
    foundBySeed: 13,
    alteration: () =>
      withCloud((cloud) => ({
        createVm: (input, call) =>
          cloud.createVm(input, call).catch(() => cloud.createVm({ ...input, token: `${input.token}/again` }, call)),
      })),
  },
  "vms-without-machine-not-seen": {
    mistake: "VMs without a machine are never found",
    profile: "people",
    foundBySeed: 1,
    alteration: () => withDriver(() => ({ listMachines: async () => ({ machines: [] }) })),
  },
  "foreign-vms-taken": {
    mistake: "VMs of another cluster are taken for those of this one",
    profile: "people",
    foundBySeed: 1,
    alteration: () =>
      withCloud((cloud) => ({
        async listVms(filter, call) {
          const vms = await cloud.listVms({}, call);
          return vms.map((vm) => ({ ...vm, tags: { ...vm.tags, ...filter?.tags } }));
        },
      })),
  },
};
