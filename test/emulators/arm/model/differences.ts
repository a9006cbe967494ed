import type { Exchange } from "../../server/index.ts";
import { exceptions, type ModelException, unpublished } from "./exceptions.ts";
import { readSdkModels, type SdkModels } from "./sdk-models.ts";
import { unreadFields } from "./unread-fields.ts";
import { valueProblems } from "./value-problems.ts";

const compute = readSdkModels("@azure/arm-compute", [
  "",
  "common",
  "compute",
  "computeDisk",
  "computeGallery",
  "computeSku",
]);
const network = readSdkModels("@azure/arm-network", ["", "common", "network"]);

/** The structures of an operation, by the SDK's names. */
interface OperationModel {
  readonly models: SdkModels;
  readonly request?: string;
  /** The structure of a request, where the SDK has no function that reads it. */
  readonly readAs?: string;
  readonly answer?: string;
}

const operations: Readonly<Record<string, OperationModel>> = {
  Disks_CreateOrUpdate: { models: compute, request: "Disk", answer: "Disk" },
  Disks_Delete: { models: compute },
  Disks_Get: { models: compute, answer: "Disk" },
  Disks_ListByResourceGroup: { models: compute, answer: "_DiskList" },
  GalleryImageVersions_Get: { models: compute, answer: "GalleryImageVersion" },
  Images_Get: { models: compute, answer: "Image" },
  NetworkInterfaces_CreateOrUpdate: { models: network, request: "NetworkInterface", answer: "NetworkInterface" },
  NetworkInterfaces_Delete: { models: network },
  NetworkInterfaces_Get: { models: network, answer: "NetworkInterface" },
  NetworkInterfaces_List: { models: network, answer: "_NetworkInterfaceListResult" },
  ResourceSkus_List: { models: compute, answer: "_ResourceSkusResult" },
  Subnets_Get: { models: network, answer: "Subnet" },
  Usage_List: { models: compute, answer: "_ListUsagesResult" },
  VirtualMachineImages_Get: { models: compute, answer: "VirtualMachineImage" },
  VirtualMachines_CreateOrUpdate: { models: compute, request: "VirtualMachine", answer: "VirtualMachine" },
  VirtualMachines_Delete: { models: compute },
  VirtualMachines_Get: { models: compute, answer: "VirtualMachine" },
  VirtualMachines_List: { models: compute, answer: "_VirtualMachineListResult" },
  VirtualMachines_Update: {
    models: compute,
    request: "VirtualMachineUpdate",
    readAs: "VirtualMachine",
    answer: "VirtualMachine",
  },
};

function bodyProblems(
  { declarations, reader }: SdkModels,
  structure: string,
  body: string,
  readAs = structure,
): readonly string[] {
  const parsed: unknown = JSON.parse(body);
  let fields: ReturnType<typeof unreadFields>;
  try {
    fields = unreadFields(parsed, reader(readAs));
  } catch (error) {
    if (error instanceof TypeError) return [`cannot be read by the SDK: ${error.message}`];
    throw error;
  }
  const { unread, result } = fields;
  return [
    ...unread.map((path) => `${path} is not in the model`),
    ...valueProblems(declarations, structure, result, ""),
  ];
}

function addressProblems({ routes }: SdkModels, method: string, url: URL): readonly string[] {
  const path = url.pathname.split("/").map(decodeURIComponent).join("/");
  const route = routes.find((each) => each.method === method && each.path.test(path));
  if (route === undefined) return [`address ${method} ${url.pathname} is not in the model`];
  const unknown = [...url.searchParams.keys()].filter((name) => !route.query.has(name));
  const problems = unknown.map((name) => `parameter ${name} is not in the model`);
  return url.searchParams.has("api-version") ? problems : [...problems, "parameter api-version is required"];
}

function refusalProblems(body: string): readonly string[] {
  const parsed: unknown = JSON.parse(body);
  const error: unknown = Reflect.get(Object(parsed), "error");
  return ["code", "message"]
    .filter((name) => typeof Reflect.get(Object(error), name) !== "string")
    .map((name) => `refusal error.${name} is required`);
}

/** Differences of a request or response from the models in Azure's SDK, without the exceptions of the table. */
export function modelDifferences(
  { operation, request, reply }: Exchange,
  allowed: readonly ModelException[] = exceptions,
): readonly string[] {
  if (operation === "" || Object.hasOwn(unpublished, operation)) return [];
  const model = operations[operation];
  if (model === undefined) return [`nothing is known of the operation ${operation}`];
  const { models } = model;
  const problems = addressProblems(models, request.method, request.url);
  const ofRequest = model.request === undefined ? [] : bodyProblems(models, model.request, request.body, model.readAs);
  const ofAnswer = (): readonly string[] => {
    if (reply === undefined || reply.body === "") return [];
    if (reply.status >= 400) return refusalProblems(reply.body);
    return model.answer === undefined ? ["must be empty"] : bodyProblems(models, model.answer, reply.body);
  };
  return [
    ...problems,
    ...ofRequest.map((problem) => `request ${problem}`),
    ...ofAnswer().map((problem) => (problem.startsWith("refusal") ? problem : `answer ${problem}`)),
  ].filter((problem) => !allowed.some((row) => row.operation.test(operation) && row.difference.test(problem)));
}
