#include "testbench/app/load_space.h"

#include "firmware/ftl.h"
#include "models/base/make_policy.h"
#include "testbench/host/file_cache/admission_policy.h"

namespace tlmssd {

AttachedDrive attached_drive(const SsdConfig& config, const firmware::DriveShape& shape) {
  AttachedDrive drive;
  drive.blocks = shape.logical_blocks;
  drive.lba_bytes = shape.lba_bytes;
  drive.max_transfer = config.host.max_transfer;
  drive.queues = config.host.effective_queues();
  drive.queue_depth = config.host.effective_depth();
  drive.mapping_page = shape.mapping_page_bytes;
  return drive;
}

LoadSpace load_space(const SsdConfig& config, const SimulationConfig& simulation) {
  const firmware::DriveShape shape = config.shape();
  const AttachedDrive drive = attached_drive(config, shape);
  const Bytes lba = drive.lba_bytes;
  LoadSpace space;
  space.drive = {drive.blocks * lba, drive.lba_bytes};
  space.drive.handles = firmware::Ftl::placement_handles(config.firmware);
  space.queues = drive.queues;
  space.unit = shape.mapping_page_bytes;
  space.idle_work = config.firmware.gc.idle_after != 0;
  if (simulation.log_structured) {
    space.drive.bytes =
        log_shape(*simulation.log_structured, drive).grains * simulation.log_structured->grain;
    space.unit = simulation.log_structured->grain;
    space.drive.handles = 1;  // it places data by itself
  }
  if (simulation.file_cache) {
    const FileCacheConfig& cache = *simulation.file_cache;
    const FileCacheShape lies = file_cache_shape(cache, drive);
    const std::shared_ptr<const AppFiles> apps = make_app_files(cache, drive.lba_bytes);
    static_cast<void>(make_policy(admission_family(), "file_cache.admission", cache.admission,
                                  cache.admission_policy,
                                  AdmissionContext{cache.files, cache.file_size, {}, apps}));
    space.drive.bytes = lies.drive_blocks * lba;
    space.files = files_space(cache, lies, drive.lba_bytes, apps);
  }
  return space;
}

}  // namespace tlmssd
