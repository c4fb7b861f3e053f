/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Error codes that occur in traces, with their names. */
#include "decode/value.h"

struct error_code {
    uint32_t code;
    const char *name;
};

static const struct error_code win32_codes[] = {
    {0, "ERROR_SUCCESS"},
    {1, "ERROR_INVALID_FUNCTION"},
    {2, "ERROR_FILE_NOT_FOUND"},
    {3, "ERROR_PATH_NOT_FOUND"},
    {4, "ERROR_TOO_MANY_OPEN_FILES"},
    {5, "ERROR_ACCESS_DENIED"},
    {6, "ERROR_INVALID_HANDLE"},
    {8, "ERROR_NOT_ENOUGH_MEMORY"},
    {13, "ERROR_INVALID_DATA"},
    {14, "ERROR_OUTOFMEMORY"},
    {18, "ERROR_NO_MORE_FILES"},
    {19, "ERROR_WRITE_PROTECT"},
    {21, "ERROR_NOT_READY"},
    {23, "ERROR_CRC"},
    {24, "ERROR_BAD_LENGTH"},
    {31, "ERROR_GEN_FAILURE"},
    {32, "ERROR_SHARING_VIOLATION"},
    {33, "ERROR_LOCK_VIOLATION"},
    {38, "ERROR_HANDLE_EOF"},
    {50, "ERROR_NOT_SUPPORTED"},
    {53, "ERROR_BAD_NETPATH"},
    {64, "ERROR_NETNAME_DELETED"},
    {80, "ERROR_FILE_EXISTS"},
    {87, "ERROR_INVALID_PARAMETER"},
    {109, "ERROR_BROKEN_PIPE"},
    {110, "ERROR_OPEN_FAILED"},
    {111, "ERROR_BUFFER_OVERFLOW"},
    {112, "ERROR_DISK_FULL"},
    {120, "ERROR_CALL_NOT_IMPLEMENTED"},
    {122, "ERROR_INSUFFICIENT_BUFFER"},
    {123, "ERROR_INVALID_NAME"},
    {126, "ERROR_MOD_NOT_FOUND"},
    {127, "ERROR_PROC_NOT_FOUND"},
    {145, "ERROR_DIR_NOT_EMPTY"},
    {161, "ERROR_BAD_PATHNAME"},
    {170, "ERROR_BUSY"},
    {183, "ERROR_ALREADY_EXISTS"},
    {206, "ERROR_FILENAME_EXCED_RANGE"},
    {230, "ERROR_BAD_PIPE"},
    {231, "ERROR_PIPE_BUSY"},
    {232, "ERROR_NO_DATA"},
    {233, "ERROR_PIPE_NOT_CONNECTED"},
    {234, "ERROR_MORE_DATA"},
    {258, "WAIT_TIMEOUT"},
    {259, "ERROR_NO_MORE_ITEMS"},
    {487, "ERROR_INVALID_ADDRESS"},
    {534, "ERROR_ARITHMETIC_OVERFLOW"},
    {995, "ERROR_OPERATION_ABORTED"},
    {996, "ERROR_IO_INCOMPLETE"},
    {997, "ERROR_IO_PENDING"},
    {998, "ERROR_NOACCESS"},
    {1004, "ERROR_INVALID_FLAGS"},
    {1060, "ERROR_SERVICE_DOES_NOT_EXIST"},
    {1168, "ERROR_NOT_FOUND"},
    {1223, "ERROR_CANCELLED"},
    {1225, "ERROR_CONNECTION_REFUSED"},
    {1236, "ERROR_CONNECTION_ABORTED"},
    {1314, "ERROR_PRIVILEGE_NOT_HELD"},
    {1392, "ERROR_FILE_CORRUPT"},
    {1450, "ERROR_NO_SYSTEM_RESOURCES"},
    {1460, "ERROR_TIMEOUT"},
    {1813, "ERROR_RESOURCE_TYPE_NOT_FOUND"},
    {10054, "WSAECONNRESET"},
    {10060, "WSAETIMEDOUT"},
    {10061, "WSAECONNREFUSED"},
    {15005, "ERROR_EVT_INVALID_EVENT_DATA"},
};

static const struct error_code ntstatus_codes[] = {
    {0x00000000, "STATUS_SUCCESS"},
    {0x00000102, "STATUS_TIMEOUT"},
    {0x00000103, "STATUS_PENDING"},
    {0x00000104, "STATUS_REPARSE"},
    {0x00000105, "STATUS_MORE_ENTRIES"},
    {0x40000000, "STATUS_OBJECT_NAME_EXISTS"},
    {0x80000002, "STATUS_DATATYPE_MISALIGNMENT"},
    {0x80000005, "STATUS_BUFFER_OVERFLOW"},
    {0x80000006, "STATUS_NO_MORE_FILES"},
    {0x8000001A, "STATUS_NO_MORE_ENTRIES"},
    {0xC0000001, "STATUS_UNSUCCESSFUL"},
    {0xC0000002, "STATUS_NOT_IMPLEMENTED"},
    {0xC0000003, "STATUS_INVALID_INFO_CLASS"},
    {0xC0000004, "STATUS_INFO_LENGTH_MISMATCH"},
    {0xC0000005, "STATUS_ACCESS_VIOLATION"},
    {0xC0000008, "STATUS_INVALID_HANDLE"},
    {0xC000000D, "STATUS_INVALID_PARAMETER"},
    {0xC000000E, "STATUS_NO_SUCH_DEVICE"},
    {0xC000000F, "STATUS_NO_SUCH_FILE"},
    {0xC0000010, "STATUS_INVALID_DEVICE_REQUEST"},
    {0xC0000011, "STATUS_END_OF_FILE"},
    {0xC0000017, "STATUS_NO_MEMORY"},
    {0xC0000022, "STATUS_ACCESS_DENIED"},
    {0xC0000023, "STATUS_BUFFER_TOO_SMALL"},
    {0xC0000024, "STATUS_OBJECT_TYPE_MISMATCH"},
    {0xC0000033, "STATUS_OBJECT_NAME_INVALID"},
    {0xC0000034, "STATUS_OBJECT_NAME_NOT_FOUND"},
    {0xC0000035, "STATUS_OBJECT_NAME_COLLISION"},
    {0xC000003A, "STATUS_OBJECT_PATH_NOT_FOUND"},
    {0xC0000043, "STATUS_SHARING_VIOLATION"},
    {0xC0000056, "STATUS_DELETE_PENDING"},
    {0xC000007F, "STATUS_DISK_FULL"},
    {0xC000009A, "STATUS_INSUFFICIENT_RESOURCES"},
    {0xC00000B5, "STATUS_IO_TIMEOUT"},
    {0xC00000BA, "STATUS_FILE_IS_A_DIRECTORY"},
    {0xC00000BB, "STATUS_NOT_SUPPORTED"},
    {0xC00000FD, "STATUS_STACK_OVERFLOW"},
    {0xC0000103, "STATUS_NOT_A_DIRECTORY"},
    {0xC0000120, "STATUS_CANCELLED"},
    {0xC0000135, "STATUS_DLL_NOT_FOUND"},
    {0xC0000188, "STATUS_LOG_FILE_FULL"},
    {0xC0000225, "STATUS_NOT_FOUND"},
    {0xC0000236, "STATUS_CONNECTION_REFUSED"},
};

static const struct error_code hresult_codes[] = {
    {0x00000000, "S_OK"},          {0x00000001, "S_FALSE"},       {0x80004001, "E_NOTIMPL"},
    {0x80004002, "E_NOINTERFACE"}, {0x80004003, "E_POINTER"},     {0x80004004, "E_ABORT"},
    {0x80004005, "E_FAIL"},        {0x8000FFFF, "E_UNEXPECTED"},  {0x80070005, "E_ACCESSDENIED"},
    {0x80070006, "E_HANDLE"},      {0x8007000E, "E_OUTOFMEMORY"}, {0x80070057, "E_INVALIDARG"},
};

static const char *error_find(const struct error_code *codes, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (codes[i].code == code) {
            return codes[i].name;
        }
    }
    return NULL;
}

#define FIND(codes, code) error_find(codes, sizeof codes / sizeof codes[0], code)

static const char *error_name_of(uint16_t out_type, uint32_t code)
{
    const char *name;

    switch (out_type) {
    case TDH_OUTTYPE_NTSTATUS:
        return FIND(ntstatus_codes, code);
    case TDH_OUTTYPE_HRESULT:
        name = FIND(hresult_codes, code);
        /* A Win32 code in an HRESULT. */
        return name == NULL && code >> 16 == 0x8007 ? FIND(win32_codes, code & 0xFFFF) : name;
    default:
        return FIND(win32_codes, code);
    }
}

void etwas_value_write_error(struct etwas_text_writer *text, const etwas_value *value)
{
    uint32_t code = (uint32_t)etwas_value_unsigned(value);
    const char *name = error_name_of(value->out_type, code);

    if (value->out_type == TDH_OUTTYPE_WIN32ERROR && value->in_type != TDH_INTYPE_HEXINT32) {
        etwas_text_put_unsigned(text, code);
    } else {
        etwas_text_put_hex(text, code);
    }
    if (name != NULL) {
        etwas_text_put(text, "(", 1);
        etwas_text_put_ascii(text, name);
        etwas_text_put(text, ")", 1);
    }
}
