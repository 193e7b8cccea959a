// Numbers of SCSI-2 (ANSI X3.131-1994): operations, status, messages, sense.
#ifndef SCSI_DISK_H
#define SCSI_DISK_H

enum {
  SCSI_TEST_UNIT_READY = 0x00,
  SCSI_REQUEST_SENSE = 0x03,
  SCSI_READ_6 = 0x08,
  SCSI_WRITE_6 = 0x0a,
  SCSI_INQUIRY = 0x12,
  SCSI_MODE_SENSE_6 = 0x1a,
  SCSI_START_STOP = 0x1b,
  SCSI_READ_CAPACITY = 0x25,
  SCSI_READ_10 = 0x28,
  SCSI_WRITE_10 = 0x2a,
  SCSI_SYNCHRONIZE_CACHE = 0x35,
  SCSI_REPORT_LUNS = 0xa0,
};

enum { SCSI_GOOD = 0x00, SCSI_CHECK_CONDITION = 0x02, SCSI_QUEUE_FULL = 0x28 };

enum {
  SCSI_COMMAND_COMPLETE = 0x00,
  SCSI_EXTENDED = 0x01,
  SCSI_SAVE_DATA_POINTER = 0x02,
  SCSI_DISCONNECT = 0x04,
  SCSI_ABORT = 0x06,
  SCSI_REJECT = 0x07,
  SCSI_ABORT_TAG = 0x0d,
  SCSI_DEVICE_RESET = 0x0c,
  SCSI_SIMPLE_TAG = 0x20,
  SCSI_HEAD_TAG = 0x21,
  SCSI_ORDERED_TAG = 0x22,
  SCSI_IDENTIFY = 0x80,
};

enum { SCSI_SYNCHRONOUS = 0x01 }; // code of the extended message about it

// Sense: key, additional code, qualifier.
#define SCSI_SENSE_NOT_STARTED 0x020402u
#define SCSI_SENSE_READ        0x031100u
#define SCSI_SENSE_WRITE       0x030c00u
#define SCSI_SENSE_OPERATION   0x052000u
#define SCSI_SENSE_RANGE       0x052100u
#define SCSI_SENSE_FIELD       0x052400u
#define SCSI_SENSE_UNIT        0x052500u
#define SCSI_SENSE_RESET       0x062900u

enum { SCSI_SECTOR = 512 };
#define SCSI_SECTORS (UINT64_C(1) << 32) // that commands reach

#endif
