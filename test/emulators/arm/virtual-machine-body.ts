import * as z from "zod";

const reference = z.strictObject({ id: z.string() });
const deleteOption = z.enum(["Delete", "Detach"]);

const imageReference = z.strictObject({
  id: z.string().optional(),
  publisher: z.string().optional(),
  offer: z.string().optional(),
  sku: z.string().optional(),
  version: z.string().optional(),
  communityGalleryImageId: z.string().optional(),
  sharedGalleryImageId: z.string().optional(),
});

const osDisk = z.strictObject({
  name: z.string(),
  osType: z.string().optional(),
  caching: z.enum(["None", "ReadOnly", "ReadWrite"]).optional(),
  createOption: z.enum(["FromImage", "Attach", "Empty"]),
  diskSizeGB: z.int().min(1).optional(),
  deleteOption: deleteOption.optional(),
  managedDisk: z
    .strictObject({
      storageAccountType: z.string().optional(),
      securityProfile: z.strictObject({ securityEncryptionType: z.string() }).optional(),
    })
    .optional(),
});

const dataDisk = z.strictObject({
  lun: z.int().min(0),
  name: z.string(),
  caching: z.enum(["None", "ReadOnly", "ReadWrite"]).optional(),
  createOption: z.enum(["Empty", "Attach", "FromImage"]),
  diskSizeGB: z.int().min(1).optional(),
  deleteOption: deleteOption.optional(),
  managedDisk: z.strictObject({ storageAccountType: z.string().optional(), id: z.string().optional() }).optional(),
});

/** The body of a PUT of a VM: every field that an emulated VM can have. Unknown fields are rejected. */
export const vmBodySchema = z.strictObject({
  location: z.string(),
  tags: z.record(z.string(), z.string().max(256)).optional(),
  zones: z.array(z.string()).max(1).optional(),
  plan: z.strictObject({ name: z.string(), product: z.string(), publisher: z.string() }).optional(),
  identity: z
    .strictObject({ type: z.literal("UserAssigned"), userAssignedIdentities: z.record(z.string(), z.strictObject({})) })
    .optional(),
  properties: z.strictObject({
    hardwareProfile: z.strictObject({ vmSize: z.string() }),
    storageProfile: z.strictObject({
      imageReference: imageReference.optional(),
      diskControllerType: z.enum(["SCSI", "NVMe"]).optional(),
      osDisk,
      dataDisks: z.array(dataDisk).optional(),
    }),
    osProfile: z.strictObject({
      computerName: z.string().max(64),
      adminUsername: z.string(),
      customData: z.base64().max(87_380).optional(),
      linuxConfiguration: z.strictObject({
        disablePasswordAuthentication: z.boolean().optional(),
        ssh: z
          .strictObject({ publicKeys: z.array(z.strictObject({ path: z.string(), keyData: z.string().min(1) })) })
          .optional(),
      }),
    }),
    networkProfile: z.strictObject({
      networkInterfaces: z
        .array(
          z.strictObject({
            id: z.string(),
            properties: z.strictObject({ primary: z.boolean().optional(), deleteOption: deleteOption.optional() }),
          }),
        )
        .length(1),
    }),
    availabilitySet: reference.optional(),
    virtualMachineScaleSet: reference.optional(),
    diagnosticsProfile: z
      .strictObject({ bootDiagnostics: z.strictObject({ enabled: z.boolean(), storageUri: z.string().optional() }) })
      .optional(),
    securityProfile: z
      .strictObject({
        securityType: z.string().optional(),
        uefiSettings: z
          .strictObject({ secureBootEnabled: z.boolean().optional(), vTpmEnabled: z.boolean().optional() })
          .optional(),
      })
      .optional(),
    capacityReservation: z.strictObject({ capacityReservationGroup: reference }).optional(),
    priority: z.enum(["Regular", "Spot"]).optional(),
    evictionPolicy: z.enum(["Deallocate", "Delete"]).optional(),
    billingProfile: z.strictObject({ maxPrice: z.number() }).optional(),
  }),
});

/** The requested VM. */
export type VmBody = z.output<typeof vmBodySchema>;

/** The body of a PATCH of a VM: tags, and delete options of NICs and disks. */
export const vmPatchSchema = z.strictObject({
  tags: z.record(z.string(), z.string()).optional(),
  properties: z
    .strictObject({
      storageProfile: z
        .strictObject({
          osDisk: z
            .strictObject({ name: z.string().optional(), createOption: z.string().optional(), deleteOption })
            .optional(),
          dataDisks: z.array(dataDisk.partial().required({ lun: true })).optional(),
        })
        .optional(),
      networkProfile: z
        .strictObject({
          networkInterfaces: z
            .array(
              z.strictObject({
                id: z.string(),
                properties: z.strictObject({ primary: z.boolean().optional(), deleteOption }),
              }),
            )
            .optional(),
        })
        .optional(),
    })
    .optional(),
});
