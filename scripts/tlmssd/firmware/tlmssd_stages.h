/* Marks the stages of firmware for tlmssd profile-firmware, which counts the instructions between
 * TLMSSD_STAGE(...) and TLMSSD_STAGE_END(). Without TLMSSD_PROFILE the marks are nothing.
 *
 *   TLMSSD_STAGE("translate", "dftl", "hit", 1);   stage, policy, cached (miss, hit, any), entries looked at
 *   where = look_up(lpn);
 *   TLMSSD_STAGE_END();
 *
 * Stages and columns are those of ssd.cpu.costs; "any" stands for any policy. Stages may not be
 * nested. What a mark itself costs is measured and taken off.
 */
#ifndef TLMSSD_STAGES_H
#define TLMSSD_STAGES_H

#ifdef TLMSSD_PROFILE
#ifdef __cplusplus
extern "C" {
#endif
void tlmssd_stage_begin(const char* stage, const char* policy, const char* cached, unsigned entries);
void tlmssd_stage_end(void);
#ifdef __cplusplus
}
#endif
#define TLMSSD_STAGE(stage, policy, cached, entries) tlmssd_stage_begin(stage, policy, cached, entries)
#define TLMSSD_STAGE_END() tlmssd_stage_end()
#else
#define TLMSSD_STAGE(stage, policy, cached, entries) ((void)0)
#define TLMSSD_STAGE_END() ((void)0)
#endif

#endif
